use crate::Options;

/// One of the runner's mock certificate compression algorithms (`ssl/test/runner/cert_compression_tests.go`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mock {
    /// An algorithm that prepends 1, 2, 3, 4.
    Expanding,
    /// An algorithm that removes two leading zero bytes.
    Shrinking,
    /// An algorithm that prepends a random byte, which makes results differ.
    Random,
}

static ALL: [Mock; 3] = [Mock::Expanding, Mock::Shrinking, Mock::Random];

impl Mock {
    /// Returns the algorithms that the test installs.
    pub fn installed(options: &Options) -> impl Iterator<Item = &'static Self> {
        let all = options.on("-install-cert-compression-algs");
        let one = options.number("-install-one-cert-compression-alg");
        ALL.iter()
            .filter(move |mock| all || one == Some(mock.code().into()))
    }

    /// Returns the code point of the algorithm.
    pub fn code(self) -> u16 {
        match self {
            Self::Shrinking => 0xff01,
            Self::Expanding => 0xff02,
            Self::Random => 0xff03,
        }
    }

    /// Compresses `input`; `fill` makes random bytes, and returns `None` if it cannot.
    pub fn pack(self, input: &[u8], fill: impl FnOnce(&mut [u8]) -> Option<()>) -> Option<Vec<u8>> {
        match self {
            Self::Expanding => Some([&[1, 2, 3, 4], input].concat()),
            Self::Shrinking => Some(input.strip_prefix(&[0, 0])?.to_vec()),
            Self::Random => {
                let mut byte = [0];
                fill(&mut byte)?;
                Some([&byte, input].concat())
            }
        }
    }

    /// Decompresses `input` into `output`; returns `None` for input that does not fill it.
    pub fn unpack(self, input: &[u8], output: &mut [u8]) -> Option<()> {
        let (prefix, rest): (&[u8], _) = match self {
            Self::Expanding => (&[], input.strip_prefix(&[1, 2, 3, 4])?),
            Self::Shrinking => (&[0, 0], input),
            Self::Random => (&[], input.get(1..)?),
        };
        let unpacked = [prefix, rest].concat();
        (unpacked.len() == output.len()).then(|| output.copy_from_slice(&unpacked))
    }
}
