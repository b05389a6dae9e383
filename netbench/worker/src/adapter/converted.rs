use std::{
    error::Error,
    task::{Context, Poll},
};

use http::Uri;
use tower_service::Service;

use crate::BoxFuture;

/// A connector whose streams and errors are converted, for hyper or for another connector.
pub struct Converted<C: Service<Uri>, R> {
    connector: C,
    convert: Conversion<C, R>,
}

type Conversion<C, R> = fn(
    Result<<C as Service<Uri>>::Response, <C as Service<Uri>>::Error>,
) -> Result<R, Box<dyn Error + Send + Sync>>;

impl<C: Service<Uri>, R> Converted<C, R> {
    /// Wraps a connector.
    pub fn new(connector: C, convert: Conversion<C, R>) -> Self {
        Self { connector, convert }
    }
}

// Not derived: a derived implementation would require the response to be Clone.
impl<C: Service<Uri> + Clone, R> Clone for Converted<C, R> {
    fn clone(&self) -> Self {
        Self::new(self.connector.clone(), self.convert)
    }
}

impl<C, R> Service<Uri> for Converted<C, R>
where
    C: Service<Uri>,
    C::Future: Send + 'static,
    C::Response: 'static,
    C::Error: Into<Box<dyn Error + Send + Sync>> + 'static,
    R: 'static,
{
    type Response = R;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = BoxFuture<'static, Result<R, Self::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.connector.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.connector.call(uri);
        let convert = self.convert;
        Box::pin(async move { convert(connecting.await) })
    }
}
