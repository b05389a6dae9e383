use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::Sleep;

/// The pause between the bytes of a slow response.
const PAUSE: Duration = Duration::from_millis(500);

/// The body of a site's response, sent at once or one byte at a time.
pub(crate) struct SiteBody {
    rest: Bytes,
    pause: Option<Pin<Box<Sleep>>>,
}

impl SiteBody {
    pub(crate) fn whole(content: Bytes) -> Self {
        Self {
            rest: content,
            pause: None,
        }
    }

    pub(crate) fn slow(content: Bytes) -> Self {
        Self {
            rest: content,
            pause: Some(Box::pin(tokio::time::sleep(PAUSE))),
        }
    }
}

impl Body for SiteBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let next = if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(cx));
            let again = tokio::time::Instant::now() + PAUSE;
            pause.as_mut().reset(again);
            self.rest.split_to(1)
        } else {
            std::mem::take(&mut self.rest)
        };
        Poll::Ready(Some(Ok(Frame::data(next))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    /// Returns the frames of a body and their duration, on a clock that advances when all tasks sleep.
    fn frames(body: impl FnOnce() -> SiteBody) -> (Vec<Bytes>, Duration) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut body = body();
            let start = tokio::time::Instant::now();
            let mut frames = Vec::new();
            loop {
                let left = body.size_hint().exact();
                assert_eq!(body.is_end_stream(), left == Some(0));
                let Some(frame) = body.frame().await else {
                    assert_eq!(left, Some(0));
                    return (frames, start.elapsed());
                };
                let data = frame.unwrap().into_data().unwrap();
                let now = body.size_hint().exact().unwrap();
                assert_eq!(left, Some(now + data.len() as u64));
                frames.push(data);
            }
        })
    }

    #[test]
    fn a_whole_body_comes_at_once() {
        for length in [0, 1, 100_000] {
            let content = Bytes::from(vec![7; length]);
            let (frames, took) = frames(|| SiteBody::whole(content.clone()));
            let due: Vec<_> = (length > 0).then_some(content).into_iter().collect();
            assert_eq!((frames, took), (due, Duration::ZERO), "{length}");
        }
    }

    #[test]
    fn a_slow_body_comes_byte_by_byte() {
        let (frames, took) = frames(|| SiteBody::slow(Bytes::from_static(b"slow")));
        assert_eq!(frames, ["s", "l", "o", "w"]);
        // The clock has a resolution of one millisecond.
        assert!(
            took >= 4 * PAUSE && took <= 4 * PAUSE + Duration::from_millis(8),
            "{took:?}"
        );
    }
}
