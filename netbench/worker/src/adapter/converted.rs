use std::{
    error::Error,
    task::{Context, Poll},
};

use http::Uri;
use tower_service::Service;

use crate::BoxFuture;

/// A connector whose results are converted by a function, for hyper or for another connector.
#[derive(Debug, Clone)]
pub struct Converted<C, F> {
    connector: C,
    convert: F,
}

impl<C, F> Converted<C, F> {
    /// Wraps a connector.
    pub fn new<R>(connector: C, convert: F) -> Self
    where
        C: Service<Uri>,
        F: FnOnce(Result<C::Response, C::Error>) -> Result<R, Box<dyn Error + Send + Sync>>,
    {
        Self { connector, convert }
    }
}

impl<C, F, R> Service<Uri> for Converted<C, F>
where
    C: Service<Uri>,
    C::Future: Send + 'static,
    C::Error: Into<Box<dyn Error + Send + Sync>>,
    F: FnOnce(Result<C::Response, C::Error>) -> Result<R, Box<dyn Error + Send + Sync>>
        + Clone
        + Send
        + 'static,
{
    type Response = R;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = BoxFuture<'static, Result<R, Self::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.connector.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.connector.call(uri);
        let convert = self.convert.clone();
        Box::pin(async move { convert(connecting.await) })
    }
}
