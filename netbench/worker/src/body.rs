use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::Sleep;

/// Between the bytes of a slow response.
const PAUSE: Duration = Duration::from_millis(500);

/// The body of a site's response: at once, or a byte at a time.
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
