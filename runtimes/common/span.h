/* tracing's spans. */
#ifndef RUNTIMES_COMMON_SPAN_H
#define RUNTIMES_COMMON_SPAN_H

#include "runtimes/common/inspector.h"

/*
 * Of a tracing::instrument::Instrumented: "span request at src/main.rs:33"; NULL where its span is
 * none, or says nothing.
 */
const char *span_text(struct collector *c, struct value instrumented);

#endif
