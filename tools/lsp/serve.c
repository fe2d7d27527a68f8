// The session: takes messages, one after the other, and answers them.

#include "tools/lsp/lsp.h"

#include <string.h>

enum { NO_METHOD = -32601, BAD_REQUEST = -32600, SYNC_FULL = 1 };

// ---- Requests on a place

// The loop nest at a directive as text, null where there is none.
static json_t *loop_nest(const struct lsp_document *d, size_t at)
{
    struct buf out = {0};
    lsp_nest(d, at, &out);
    json_t *text = out.n ? json_stringn(out.data, out.n) : json_null();
    buf_free(&out);
    return text;
}

// ---- Requests and notifications of the session

// Say what the server can do.
static json_t *initialize(struct lsp *l, const json_t *params)
{
    (void)l, (void)params;
    return json_pack("{s:{s:i, s:b, s:b, s:{}}, s:{s:s, s:s}}", "capabilities",
                     "textDocumentSync", SYNC_FULL, "hoverProvider", 1,
                     "definitionProvider", 1, "completionProvider",
                     "serverInfo", "name", "ingot", "version", INGOT_VERSION);
}

// The client is about to leave.
static json_t *shut_down(struct lsp *l, const json_t *params)
{
    (void)params;
    l->is_shut_down = true;
    return json_null();
}

// Send diagnostics of a document; they replace those before.
static void publish(struct lsp *l, const char *uri, json_t *list)
{
    lsp_write(l->out, json_pack("{s:s, s:s, s:{s:s, s:o}}", "jsonrpc", "2.0",
                                "method", "textDocument/publishDiagnostics",
                                "params", "uri", uri, "diagnostics", list));
}

// Return a text of the document that parameters name, or NULL.
static const char *of_document(const json_t *params, const char *key)
{
    return json_string_value(
        json_object_get(json_object_get(params, "textDocument"), key));
}

// Take a text, and say what is wrong with it.
static void take_text(struct lsp *l, const char *uri, const char *text)
{
    if (!uri || !text)
        return;
    struct lsp_document *d = lsp_set(l, uri, text);
    publish(l, uri, lsp_diagnose(d));
}

// textDocument/didOpen.
static void did_open(struct lsp *l, const json_t *params)
{
    take_text(l, of_document(params, "uri"), of_document(params, "text"));
}

// textDocument/didChange: the whole text is in the last change.
static void did_change(struct lsp *l, const json_t *params)
{
    const json_t *changes = json_object_get(params, "contentChanges");
    size_t n = json_array_size(changes);
    const json_t *last = n ? json_array_get(changes, n - 1) : NULL;
    take_text(l, of_document(params, "uri"),
              json_string_value(json_object_get(last, "text")));
}

// textDocument/didClose: its diagnostics go.
static void did_close(struct lsp *l, const json_t *params)
{
    struct lsp_document *d = lsp_find(l, of_document(params, "uri"));
    if (!d)
        return;
    d->is_open = false;
    buf_free(&d->text);
    publish(l, d->uri, json_array());
}

// ---- The tables

static const struct {
    const char *method;
    json_t *(*answer)(const struct lsp_document *d, size_t at);
} requests[] = {
#define REQUEST(method, function) {method, function},
#include "tools/lsp/methods.def"
};

static const struct {
    const char *method;
    json_t *(*answer)(struct lsp *l, const json_t *params);
} sessions[] = {
#define SESSION(method, function) {method, function},
#include "tools/lsp/methods.def"
};

static const struct {
    const char *method;
    void (*take)(struct lsp *l, const json_t *params);
} notifications[] = {
#define NOTIFICATION(method, function) {method, function},
#include "tools/lsp/methods.def"
};

// Return the result of a request, NULL if there is none of that name.
static json_t *result_of(struct lsp *l, const char *method,
                         const json_t *params)
{
    const json_t *position = json_object_get(params, "position");
    const struct lsp_document *d = lsp_find(l, of_document(params, "uri"));
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        if (strcmp(requests[i].method, method) == 0)
            return d && d->text.n
                       ? requests[i].answer(d, lsp_offset(d, position))
                       : json_null();
    for (size_t i = 0; i < sizeof sessions / sizeof *sessions; i++)
        if (strcmp(sessions[i].method, method) == 0)
            return sessions[i].answer(l, params);
    return NULL;
}

// Answer a request.
static void answer(struct lsp *l, const json_t *id, const char *method,
                   const json_t *params)
{
    json_t *reply =
        json_pack("{s:s, s:O}", "jsonrpc", "2.0", "id", (json_t *)id);
    json_t *result = l->is_shut_down ? NULL : result_of(l, method, params);
    if (result)
        json_object_set_new(reply, "result", result);
    else
        json_object_set_new(
            reply, "error",
            json_pack("{s:i, s:s}", "code",
                      l->is_shut_down ? BAD_REQUEST : NO_METHOD, "message",
                      l->is_shut_down ? "the session has been shut down"
                                      : "there is no such method"));
    lsp_write(l->out, reply);
}

// Take one message.  Returns false if it ends the session.
static bool take(struct lsp *l, const json_t *message)
{
    const char *method = json_string_value(json_object_get(message, "method"));
    const json_t *id = json_object_get(message, "id");
    const json_t *params = json_object_get(message, "params");
    if (!method)
        return true;
    if (id)
        answer(l, id, method, params);
    if (id || strcmp(method, "exit") == 0)
        return id != NULL;
    for (size_t i = 0; i < sizeof notifications / sizeof *notifications; i++)
        if (strcmp(notifications[i].method, method) == 0)
            notifications[i].take(l, params);
    return true;
}

int lsp_serve(FILE *in, FILE *out)
{
    struct lsp l = {.in = in, .out = out};
    json_t *message;
    bool goes_on = true;
    while (goes_on && (message = lsp_read(in))) {
        goes_on = take(&l, message);
        json_decref(message);
    }
    for (size_t i = 0; i < l.documents.n; i++)
        buf_free(&l.documents.at[i].text);
    arena_reset(&l.arena);
    return !goes_on && l.is_shut_down ? 0 : 1;
}
