//! A folder at `/`, so that a demo is one process.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use tower_http::services::ServeDir;

use crate::shared::Shared;

/// Adds the folder, if there is one.
pub(crate) fn add(app: Router, shared: &Arc<Shared>) -> Router {
    let Some(folder) = &shared.config.static_dir else {
        return app;
    };
    let headers = axum::middleware::from_fn_with_state(Arc::clone(shared), headers);
    let files = Router::new().fallback_service(ServeDir::new(folder)).layer(headers);
    app.fallback_service(files)
}

async fn headers(State(server): State<Arc<Shared>>, request: Request<Body>, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let html = headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    let policy = server.config.csp.as_deref().and_then(|policy| HeaderValue::from_str(policy).ok());
    if let (true, Some(policy)) = (html, policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    response
}
