/* Spans of the tracing crate. */
#ifndef RUNTIMES_COMMON_SPAN_H
#define RUNTIMES_COMMON_SPAN_H

#include "runtimes/common/inspector.h"

/*
 * The span of a tracing::instrument::Instrumented: "span request at src/main.rs:33"; NULL where it
 * has no span, or the span has no text.
 */
const char *span_text(struct collector *c, struct value instrumented);

#endif
