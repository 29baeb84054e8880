#include "commands/dap/wire/node.h"

#include <stdlib.h>
#include <string.h>

struct node_reading {
	struct json_reader r;
	struct arena *a;
	size_t left;         /* nodes that may still be made */
	const char *problem; /* NULL: none so far */
};

static void node_read_value(struct node_reading *g, struct node *n, int depth);

static struct node *node_add(struct node_reading *g, struct node *container, struct node ***end)
{
	struct node *n;

	if (!g->left--) {
		g->problem = "has too many values";
		return NULL;
	}
	n = NEW(g->a, struct node);
	**end = n;
	*end = &n->next;
	container->n++;
	return n;
}

static void read_object(struct node_reading *g, struct node *to, int depth)
{
	struct node **end = &to->first, *n;
	const char *key;

	json_enter_object(&g->r);
	while (!g->problem && (key = json_next_key(&g->r)) && (n = node_add(g, to, &end))) {
		n->key = key;
		node_read_value(g, n, depth + 1);
	}
}

static void read_array(struct node_reading *g, struct node *to, int depth)
{
	struct node **end = &to->first, *n;

	json_enter_array(&g->r);
	while (!g->problem && json_next_element(&g->r) && (n = node_add(g, to, &end)))
		node_read_value(g, n, depth + 1);
}

/* Numbers that are not integers lose their fraction. */
static int64_t node_read_number(struct json_reader *r)
{
	const char *start = r->p;

	json_skip(r);
	size_t len = (size_t)(r->p - start);
	if (!r->problem &&
	    (memchr(start, '.', len) || memchr(start, 'e', len) || memchr(start, 'E', len))) {
		double d = strtod(start, NULL);

		return d >= 9e18 ? INT64_MAX : d <= -9e18 ? INT64_MIN : (int64_t)d;
	}
	return r->problem ? 0 : strtoll(start, NULL, 10);
}

static void node_read_value(struct node_reading *g, struct node *n, int depth)
{
	n->kind = json_peek(&g->r);
	if (depth == NODE_MAX_DEPTH)
		g->problem = "is nested too deep";
	if (g->problem)
		return;
	switch (n->kind) {
	case JSON_IS_OBJECT:
		read_object(g, n, depth);
		break;
	case JSON_IS_ARRAY:
		read_array(g, n, depth);
		break;
	case JSON_IS_TEXT:
		n->text = json_take_raw(&g->r);
		break;
	case JSON_IS_NUMBER:
		n->number = node_read_number(&g->r);
		break;
	case JSON_IS_BOOL:
		n->yes = json_take_bool(&g->r);
		break;
	default:
		json_skip(&g->r);
	}
}

struct error *node_read(struct arena *a, char *text, size_t len, const struct node **ret)
{
	struct node_reading g = { .a = a, .left = NODE_MAX_NODES };
	struct node *root = NEW(a, struct node);

	json_reader_init(&g.r, text, len);
	node_read_value(&g, root, 0);
	if (!g.problem)
		g.problem = g.r.problem;
	if (!g.problem && !json_at_end(&g.r))
		g.problem = "continues after its end";
	if (g.problem)
		return error_new(ERR_CORRUPT, "the message %s", g.problem);
	*ret = root;
	return NULL;
}

const struct node *node_get(const struct node *object, const char *key)
{
	if (!object || object->kind != JSON_IS_OBJECT)
		return NULL;
	for (const struct node *n = object->first; n; n = n->next) {
		if (strcmp(n->key, key) == 0)
			return n->kind == JSON_IS_NULL ? NULL : n;
	}
	return NULL;
}

const char *node_text(const struct node *n)
{
	return n && n->kind == JSON_IS_TEXT ? n->text : NULL;
}

int64_t node_number(const struct node *n, int64_t otherwise)
{
	return n && n->kind == JSON_IS_NUMBER ? n->number : otherwise;
}

bool node_is_true(const struct node *n, bool otherwise)
{
	return n && n->kind == JSON_IS_BOOL ? n->yes : otherwise;
}

const struct node *node_first(const struct node *n)
{
	return n && (n->kind == JSON_IS_OBJECT || n->kind == JSON_IS_ARRAY) ? n->first : NULL;
}

size_t node_count(const struct node *n)
{
	return node_first(n) ? n->n : 0;
}
