//! REST: agents, conversations, history, attachments, the user, errors, other origins.

use pagehand_mock_server::json::{Json, parse};
use pagehand_mock_server::object;

use crate::bench::{API, Service, TOKEN};

fn items(page: &Json) -> Vec<Json> {
    page.get("data").unwrap().as_array().unwrap().to_vec()
}

fn body(text: &str) -> Json {
    parse(text).unwrap()
}

#[tokio::test]
async fn agents_are_listed_and_described() {
    let service = Service::start().await;
    let agents = r#"[{"id": 1, "name": "A", "folderId": 2, "appearance": {"welcomeTitle": "Hi"}, "inputSchema": {}}, {"id": 3, "name": "B", "folderId": 4}]"#;
    let defaults = service.rest("GET", "/agent", None).await.json();
    let names: Vec<_> = defaults.as_array().unwrap()[0].as_object().unwrap().keys().map(str::to_owned).collect();
    assert_eq!(
        names,
        ["id", "name", "description", "processVersion", "processKey", "releaseKey", "folderId", "feedId", "createdAt"]
    );
    service.control("PUT", "/agents", agents).await;
    let listed = service.rest("GET", "/agent?folderId=2", None).await.json();
    assert_eq!(listed.to_string(), r#"[{"id":1,"name":"A","folderId":2}]"#);
    let one = service.rest("GET", "/agent/2/1", None).await.json();
    assert!(one.get("appearance").is_some() && one.get("inputSchema").is_some());
    assert_eq!(service.rest("GET", "/agent/2/3", None).await.status, 404);
    assert_eq!(service.rest("GET", "/agent/2/1/connections", None).await.text, "[]");
    let chosen = service
        .rest("PUT", "/agent/2/1/connections", body(r#"{"selections": [{"connectorKey": "k", "connectionId": null}]}"#))
        .await;
    assert_eq!(chosen.text, r#"[{"connectorKey":"k","connectionId":null}]"#);
    let auth = service.rest("POST", "/agent/connections/auth", body(r#"{"connectorKey": "k"}"#)).await.json();
    assert!(auth.text("authUrl").is_some() && auth.count("expiresAt").is_some());
    let flags = format!("{}/utility/feature-flags", API.strip_suffix("/v1").unwrap());
    let bearer = format!("Bearer {TOKEN}");
    assert_eq!(service.send("GET", &flags, &[("authorization", &bearer)], None).await.unwrap().text, "{}");
}

#[tokio::test]
async fn a_conversation_is_made_changed_and_removed() {
    let service = Service::start().await;
    let made = service
        .rest("POST", "/conversation", body(r#"{"folderId": 11, "label": "probe", "agentReleaseId": 7}"#))
        .await
        .json();
    let names: Vec<_> = made.as_object().unwrap().keys().map(str::to_owned).collect();
    assert_eq!(
        names,
        [
            "conversationId",
            "createdAt",
            "updatedAt",
            "lastActivityAt",
            "label",
            "autogenerateLabel",
            "userId",
            "orgId",
            "tenantId",
            "folderId",
            "agentReleaseId",
            "traceId"
        ]
    );
    assert_eq!(
        (made.text("label"), made.flag("autogenerateLabel"), made.text("orgId")),
        (Some("probe"), Some(true), Some("org"))
    );
    let path = format!("/conversation/{}", made.text("conversationId").unwrap());
    assert_eq!(service.rest("GET", &path, None).await.json(), made);
    let changed = service
        .rest("PATCH", &path, body(r#"{"label": "new", "autogenerateLabel": false, "jobKey": "j"}"#))
        .await
        .json();
    assert_eq!(
        (changed.text("label"), changed.flag("autogenerateLabel"), changed.text("jobKey")),
        (Some("new"), Some(false), Some("j"))
    );
    let client = service.session(made.text("conversationId").unwrap()).await;
    assert_eq!(service.rest("DELETE", &path, None).await.json(), changed);
    client.event("endSession", 1).await;
    for (method, path) in
        [("GET", path.clone()), ("PATCH", path.clone()), ("DELETE", path.clone()), ("GET", format!("{path}/exchange"))]
    {
        assert_eq!(service.rest(method, &path, body("{}")).await.status, 404, "{method} {path}");
    }
}

#[tokio::test]
async fn what_is_wrong_in_a_request_is_named() {
    let service = Service::start().await;
    service.control("PUT", "/levers", r#"{"error_form": "problem"}"#).await;
    let long = "x".repeat(101);
    let big = format!(r#"{{"inline": {{"a": "{}"}}}}"#, "x".repeat(4000));
    for (request, fields) in [
        ("{}".to_owned(), vec!["agentReleaseId", "folderId"]),
        (format!(r#"{{"agentReleaseId": 7, "folderId": 11, "label": "{long}"}}"#), vec!["label"]),
        (format!(r#"{{"agentReleaseId": 7, "folderId": 11, "agentInput": {big}}}"#), vec!["agentInput"]),
        (r#"{"agentReleaseId": 7, "folderId": 11, "agentInput": {}}"#.to_owned(), vec!["agentInput"]),
    ] {
        let answer = service.rest("POST", "/conversation", body(&request)).await;
        assert_eq!(answer.status, 400);
        let errors = answer.json().get("errors").unwrap().clone();
        assert_eq!(errors.as_object().unwrap().keys().collect::<Vec<_>>(), fields);
    }
    let unknown = service.rest("POST", "/conversation", body(r#"{"agentReleaseId": 8, "folderId": 11}"#)).await;
    assert_eq!(unknown.status, 404);
    for query in ["limit=0", "limit=1001", "limit=x", "cursor=nobody", "sort=up"] {
        assert_eq!(service.rest("GET", &format!("/conversation?{query}"), None).await.status, 400, "{query}");
    }
}

#[tokio::test]
async fn errors_have_one_of_three_forms() {
    let service = Service::start().await;
    let mut seen = Vec::new();
    for form in ["message", "error", "problem"] {
        service.control("PUT", "/levers", &format!(r#"{{"error_form": "{form}"}}"#)).await;
        let answer = service.rest("GET", "/conversation/nobody", None).await;
        assert_eq!(answer.status, 404);
        seen.push(answer.json().as_object().unwrap().keys().collect::<Vec<_>>().join(" "));
    }
    assert_eq!(seen, ["message errorCode traceId", "error traceId", "type title status traceId"]);
}

#[tokio::test]
async fn conversations_come_in_pages_sorted_and_filtered() {
    let service = Service::start().await;
    service
        .control(
            "PUT",
            "/agents",
            r#"[{"id": 7, "folderId": 11, "releaseKey": "k7"}, {"id": 8, "folderId": 11, "releaseKey": "k8"}]"#,
        )
        .await;
    for (label, agent) in [("One", 7), ("Two", 8), ("Twofold", 7)] {
        let request = format!(r#"{{"agentReleaseId": {agent}, "folderId": 11, "label": "{label}"}}"#);
        assert_eq!(service.rest("POST", "/conversation", body(&request)).await.status, 200);
    }
    let labels = async |query: &str| {
        let page = service.rest("GET", &format!("/conversation?{query}"), None).await.json();
        let labels: Vec<String> = items(&page).iter().map(|item| item.text("label").unwrap().to_owned()).collect();
        (labels.join(" "), page.text("cursor").map(str::to_owned))
    };
    assert_eq!(labels("").await, ("Twofold Two One".to_owned(), None));
    assert_eq!(labels("sort=ascending").await.0, "One Two Twofold");
    assert_eq!(labels("search=two").await.0, "Twofold Two");
    assert_eq!(labels("agentReleaseId=8").await.0, "Two");
    assert_eq!(labels("agentReleaseKey=k7").await.0, "Twofold One");
    assert_eq!(labels("agentReleaseKey=k9").await.0, "");
    let (first, cursor) = labels("limit=2").await;
    let (second, end) = labels(&format!("limit=2&cursor={}", cursor.unwrap())).await;
    assert_eq!((first.as_str(), second.as_str(), end), ("Twofold Two", "One", None));
}

/// A conversation with two exchanges, the second with a confirmed call.
async fn with_history(service: &Service) -> String {
    let script = r#"{"exchanges": [[{"text": "hello"}], [{"calls": [{"id": "c1", "name": "create_task", "confirm": true,
        "input": {"title": "Q3"}, "inputSchema": {"type": "object", "required": ["title"]}}]}, {"text": "done"}]]}"#;
    let id = service.conversation(script).await;
    let client = service.session(&id).await;
    client.ask(&id, "X1", "hi").await;
    client.event("endExchange", 1).await;
    client.ask(&id, "X2", "add").await;
    let start = client.event("startToolCall", 1).await;
    client.answer(&start, "confirmToolCall", r#"{"approved": true, "input": {"title": "Q4"}}"#).await;
    let call = client.event("executingToolCall", 1).await;
    client.answer(&call, "endToolCall", r#"{"output": {"id": 12345678901234567890}, "isError": false}"#).await;
    client.event("endExchange", 2).await;
    id
}

#[tokio::test]
async fn the_history_has_messages_parts_and_calls() {
    let service = Service::start().await;
    let id = with_history(&service).await;
    let path = format!("/conversation/{id}/exchange");
    let page = service.rest("GET", &path, None).await.json();
    let exchanges = items(&page);
    assert_eq!(exchanges.iter().map(|item| item.text("exchangeId").unwrap()).collect::<Vec<_>>(), ["X1", "X2"]);
    let messages = exchanges[1].get("messages").unwrap().as_array().unwrap().to_vec();
    assert_eq!(
        messages.iter().map(|item| item.text("role").unwrap()).collect::<Vec<_>>(),
        ["user", "assistant", "assistant"]
    );
    let part = &messages[0].get("contentParts").unwrap().as_array().unwrap()[0];
    assert_eq!(
        part.to_string(),
        r#"{"contentPartId":"P1","mimeType":"text/plain","data":{"inline":"add"},"citations":[]}"#
    );
    let call = &messages[1].get("toolCalls").unwrap().as_array().unwrap()[0];
    assert_eq!((call.text("name"), call.flag("requireConfirmation")), (Some("create_task"), Some(true)));
    assert_eq!(call.get("input").unwrap().to_string(), r#"{"title":"Q3"}"#);
    assert_eq!(call.get("inputSchema").unwrap().to_string(), r#"{"type":"object","required":["title"]}"#);
    let confirmation = call.get("confirmation").unwrap();
    assert_eq!(
        (confirmation.flag("approved"), confirmation.get("input").unwrap().to_string()),
        (Some(true), r#"{"title":"Q4"}"#.to_owned())
    );
    assert!(confirmation.text("confirmedAt").unwrap().ends_with('Z'));
    let result = call.get("result").unwrap();
    assert_eq!(result.get("output").unwrap().to_string(), r#"{"id":12345678901234567890}"#);
    assert_eq!(result.flag("isError"), Some(false));

    let newest = service
        .rest("GET", &format!("{path}?exchangeSort=descending&messageSort=descending&limit=1"), None)
        .await
        .json();
    assert_eq!(newest.text("cursor"), Some("X2"));
    let reversed = items(&newest)[0].get("messages").unwrap().as_array().unwrap().to_vec();
    assert_eq!(reversed[2], messages[0]);
    let message = messages[0].text("messageId").unwrap();
    assert_eq!(service.rest("GET", &format!("{path}/X2"), None).await.json(), exchanges[1]);
    assert_eq!(service.rest("GET", &format!("{path}/X2/message/{message}"), None).await.json(), messages[0]);
    assert_eq!(service.rest("GET", &format!("{path}/X2/message/{message}/contentPart/P1"), None).await.json(), *part);
    for missing in ["/X3", "/X2/message/none", "/X2/message/none/contentPart/P1", "/X2/nothing"] {
        assert_eq!(service.rest("GET", &format!("{path}{missing}"), None).await.status, 404, "{missing}");
    }
}

#[tokio::test]
async fn an_exchange_is_rated() {
    let service = Service::start().await;
    let id = with_history(&service).await;
    let path = format!("/conversation/{id}/exchange/X1");
    let rated =
        service.rest("POST", &format!("{path}/feedback"), body(r#"{"rating": "positive", "comment": "good"}"#)).await;
    assert_eq!((rated.status, rated.text.as_str()), (200, "{}"));
    assert_eq!(service.rest("GET", &path, None).await.json().text("feedbackRating"), Some("positive"));
    assert_eq!(service.rest("POST", &format!("{path}/feedback"), body(r#"{"rating": "great"}"#)).await.status, 400);
}

#[tokio::test]
async fn a_file_is_announced_uploaded_and_read_back() {
    let service = Service::start().await;
    let id = service.conversation("[]").await;
    let announced =
        service.rest("POST", &format!("/conversation/{id}/attachment"), body(r#"{"name": "a.pdf"}"#)).await.json();
    let uri = announced.text("uri").unwrap();
    assert!(uri.starts_with("urn:uipath:cas:file:orchestrator:"));
    let access = announced.get("fileUploadAccess").unwrap();
    assert_eq!((access.text("verb"), access.get("requiresAuth")), (Some("PUT"), None));
    let list = |name: &str| {
        access.get("headers").unwrap().get(name).unwrap().as_array().unwrap()[0].as_str().unwrap().to_owned()
    };
    let (key, value) = (list("keys"), list("values"));
    let path = access.text("url").unwrap().strip_prefix(&service.running.base_url()).unwrap().to_owned();
    let blob = ("x-ms-blob-type", "BlockBlob");
    let listed = (key.as_str(), value.as_str());
    let put = async |headers: &[(&str, &str)]| {
        service.send("PUT", &path, headers, Some("bytes".to_owned())).await.unwrap().status
    };
    assert_eq!(put(&[blob]).await, 400);
    assert_eq!(put(&[listed]).await, 400);
    assert_eq!(put(&[blob, listed, ("authorization", "Bearer token-1")]).await, 403);
    assert_eq!(put(&[blob, listed]).await, 201);
    let files = service.control("GET", "/attachments", "").await;
    let file = &files.as_array().unwrap()[0];
    assert_eq!((file.text("name"), file.text("uri"), file.count("bytes")), (Some("a.pdf"), Some(uri), Some(5)));
    let content = service
        .send("GET", &format!("/mock/uipath/attachments/{}", file.text("id").unwrap()), &[], None)
        .await
        .unwrap();
    assert_eq!(
        (content.text.as_str(), content.headers.get("content-type").unwrap().to_str().unwrap()),
        ("bytes", "application/json")
    );
    service.control("PUT", "/levers", r#"{"upload_requires_auth": true}"#).await;
    let again = service.rest("POST", &format!("/conversation/{id}/attachment"), body(r#"{"name": "b"}"#)).await.json();
    let access = again.get("fileUploadAccess").unwrap();
    assert_eq!(access.flag("requiresAuth"), Some(true));
    let path = access.text("url").unwrap().strip_prefix(&service.running.base_url()).unwrap().to_owned();
    let put = async |headers: &[(&str, &str)]| {
        service.send("PUT", &path, headers, Some("x".to_owned())).await.unwrap().status
    };
    assert_eq!(put(&[blob, listed]).await, 403);
    assert_eq!(put(&[blob, listed, ("authorization", "Bearer token-1")]).await, 201);
}

#[tokio::test]
async fn the_user_is_changed_field_by_field() {
    let service = Service::start().await;
    let changed = service.rest("PATCH", "/user/settings", body(r#"{"name": "Ann", "country": "NL"}"#)).await.json();
    assert_eq!((changed.text("name"), changed.text("country")), (Some("Ann"), Some("NL")));
    service.rest("PATCH", "/user/settings", body(r#"{"country": null}"#)).await;
    let user = service.rest("GET", "/user/settings", None).await.json();
    assert_eq!((user.text("name"), user.get("country")), (Some("Ann"), Some(&Json::Null)));
    assert_eq!(service.rest("PATCH", "/user/settings", body(r#"{"nick": "a"}"#)).await.status, 400);
}

#[tokio::test]
async fn a_page_of_another_origin_may_send_exactly_the_known_headers() {
    let service = Service::start().await;
    let asks = [
        ("origin", "https://app.example"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "authorization,x-other"),
    ];
    let answer = service.send("OPTIONS", &format!("{API}/conversation"), &asks, None).await.unwrap();
    assert_eq!(answer.status, 204);
    let header = |name: &str| answer.headers.get(name).unwrap().to_str().unwrap().to_owned();
    assert_eq!(header("access-control-allow-origin"), "*");
    assert_eq!(
        header("access-control-allow-headers"),
        "authorization, content-type, traceparent, x-uipath-traceparent-id, x-uipath-external-user-id, \
         x-uipath-conversational-surfacename, x-uipath-conversational-surfaceversion"
    );
    let denied =
        service.send("GET", &format!("{API}/agent"), &[("origin", "https://app.example")], None).await.unwrap();
    assert_eq!(
        (denied.status, denied.headers.get("access-control-allow-origin").unwrap().to_str().unwrap()),
        (401, "*")
    );
}

#[tokio::test]
async fn requests_and_frames_are_in_one_record_and_openhands_is_still_there() {
    let service = Service::start().await;
    let id = service.conversation("[]").await;
    service.session(&id).await;
    assert_eq!(service.get("/alive").await, object! { "status" => "ok" });
    let record = service.get("/mock/record").await;
    let lines = record.as_array().unwrap();
    let of = |channel: &str| lines.iter().filter(|line| line.text("ch") == Some(channel)).cloned().collect::<Vec<_>>();
    let rest = of("rest");
    assert_eq!(rest[0].text("path"), Some(&*format!("{API}/conversation")));
    assert_eq!(rest[0].get("headers").unwrap().text("authorization"), Some("Bearer token-1"));
    let frames: Vec<_> =
        of("ws").iter().map(|line| format!("{} {}", line.text("dir").unwrap(), line.text("label").unwrap())).collect();
    assert_eq!(
        frames,
        ["open client-1", "recv client-1", "send client-1", "recv client-1", "send client-1", "recv client-1"]
    );
}
