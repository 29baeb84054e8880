#include "debugger/live/sock_diag.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum {
	RECEIVE_SIZE = 64 * 1024, /* the kernel fills at most 32 KiB at a time */
	MAX_MESSAGES = 1 << 20,   /* sockets of one list */
	TIMEOUT_S = 2,            /* for an answer of the kernel */
	STATE_LISTEN = 10,        /* include/net/tcp_states.h of the kernel */
	STATE_TIME_WAIT = 6,
};

/* ---- the namespace ---- */

struct entering {
	int ns; /* descriptor of the namespace */
	int netlink;
};

static int open_netlink(void)
{
	const struct timeval timeout = { .tv_sec = TIMEOUT_S };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	return fd;
}

/* A socket stays in the namespace in which it was created, when its thread has ended. */
static void *open_there(void *arg)
{
	struct entering *e = arg;

	e->netlink = setns(e->ns, CLONE_NEWNET) == 0 ? open_netlink() : -1;
	return NULL;
}

int sock_diag_open(pid_t pid)
{
	struct entering e = { .netlink = -1 };
	struct stat own, other;
	char path[64];
	pthread_t thread;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	if (stat("/proc/self/ns/net", &own) != 0 || stat(path, &other) != 0)
		return -1;
	if (own.st_dev == other.st_dev && own.st_ino == other.st_ino)
		return open_netlink();
	e.ns = open(path, O_RDONLY | O_CLOEXEC);
	if (e.ns < 0)
		return -1;
	if (pthread_create(&thread, NULL, open_there, &e) == 0)
		pthread_join(thread, NULL);
	close(e.ns);
	return e.netlink;
}

/* ---- one socket ---- */

/* The attributes that follow a message's fixed part. */
struct attributes {
	const char *at;
	size_t left;
};

/* The next attribute's payload, of *len bytes; NULL: there is no other. */
static const void *next_attribute(struct attributes *rest, unsigned *type, size_t *len)
{
	struct nlattr a;

	if (rest->left < NLA_HDRLEN)
		return NULL;
	memcpy(&a, rest->at, sizeof(a));
	if (a.nla_len < NLA_HDRLEN || a.nla_len > rest->left)
		return NULL;
	const char *payload = rest->at + NLA_HDRLEN;
	size_t step = NLA_ALIGN(a.nla_len);

	step = step < rest->left ? step : rest->left;
	rest->at += step;
	rest->left -= step;
	*type = a.nla_type & NLA_TYPE_MASK;
	*len = a.nla_len - (size_t)NLA_HDRLEN;
	return payload;
}

/* An older kernel's struct tcp_info is shorter. */
#define HAS(len, member)                                                                           \
	((len) >= offsetof(struct tcp_info, member) + sizeof(((struct tcp_info *)0)->member))

static void add_tcp_info(struct sock_diag *s, const void *data, size_t len)
{
	struct tcp_info info = { 0 };

	memcpy(&info, data, len < sizeof(info) ? len : sizeof(info));
	if (HAS(len, tcpi_total_retrans))
		s->retransmits = info.tcpi_total_retrans;
	if (HAS(len, tcpi_notsent_bytes) && info.tcpi_notsent_bytes <= s->unsent)
		s->unacknowledged = (int64_t)(s->unsent - info.tcpi_notsent_bytes);
	if (HAS(len, tcpi_snd_wnd))
		s->peer_window = info.tcpi_snd_wnd;
}

static void sock_diag_parse_inet(const char *payload, size_t len, sock_diag_fn *fn, void *arg)
{
	struct sock_diag s = { .unacknowledged = -1, .retransmits = -1, .peer_window = -1 };
	struct attributes rest = { payload + sizeof(struct inet_diag_msg),
		                   len - sizeof(struct inet_diag_msg) };
	struct inet_diag_msg m;
	unsigned type;
	const void *data;

	memcpy(&m, payload, sizeof(m));
	s.inode = m.idiag_inode;
	s.state = m.idiag_state;
	s.local = m.id.idiag_src;
	s.peer = m.id.idiag_dst;
	s.local_port = ntohs(m.id.idiag_sport);
	s.peer_port = ntohs(m.id.idiag_dport);
	s.unread = m.idiag_rqueue;
	/* idiag_wqueue of a listening socket is the limit of rqueue. */
	s.unsent = m.idiag_state == STATE_LISTEN ? 0 : m.idiag_wqueue;
	while (m.idiag_state != STATE_LISTEN && (data = next_attribute(&rest, &type, &len))) {
		if (type == INET_DIAG_INFO)
			add_tcp_info(&s, data, len);
	}
	fn(arg, &s);
}

static void sock_diag_parse_unix(const char *payload, size_t len, sock_diag_fn *fn, void *arg)
{
	struct attributes rest = { payload + sizeof(struct unix_diag_msg),
		                   len - sizeof(struct unix_diag_msg) };
	struct sock_diag s = { 0 };
	struct unix_diag_rqlen queue;
	struct unix_diag_msg m;
	unsigned type;
	const void *data;
	uint32_t peer;

	memcpy(&m, payload, sizeof(m));
	s.inode = m.udiag_ino;
	s.state = m.udiag_state;
	s.stream = m.udiag_type == SOCK_STREAM || m.udiag_type == SOCK_SEQPACKET;
	while ((data = next_attribute(&rest, &type, &len))) {
		if (type == UNIX_DIAG_NAME) {
			s.name = data;
			s.name_len = len;
		} else if (type == UNIX_DIAG_PEER && len >= sizeof(peer)) {
			memcpy(&peer, data, sizeof(peer));
			s.peer_inode = peer;
		} else if (type == UNIX_DIAG_RQLEN && len >= sizeof(queue)) {
			memcpy(&queue, data, sizeof(queue));
			s.unread = queue.udiag_rqueue;
		}
	}
	fn(arg, &s);
}

/* ---- the list ---- */

struct inet_request {
	struct nlmsghdr header;
	struct inet_diag_req_v2 diag;
};

struct unix_request {
	struct nlmsghdr header;
	struct unix_diag_req diag;
};

static bool request_inet(int netlink, int family)
{
	const struct inet_request r = {
		{ .nlmsg_len = sizeof(r),
		  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		  .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		{ .sdiag_family = (uint8_t)family,
		  .sdiag_protocol = IPPROTO_TCP,
		  .idiag_ext = 1U << (INET_DIAG_INFO - 1),
		  .idiag_states = ~(1U << STATE_TIME_WAIT) },
	};

	return send(netlink, &r, sizeof(r), 0) == (ssize_t)sizeof(r);
}

static bool request_unix(int netlink)
{
	const struct unix_request r = {
		{ .nlmsg_len = sizeof(r),
		  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		  .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		{ .sdiag_family = AF_UNIX,
		  .udiag_states = ~0U,
		  .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER | UDIAG_SHOW_RQLEN },
	};

	return send(netlink, &r, sizeof(r), 0) == (ssize_t)sizeof(r);
}

bool sock_diag_list(int netlink, enum sock_diag_table table, sock_diag_fn *fn, void *arg)
{
	bool is_unix = table == SOCK_DIAG_UNIX;
	size_t fixed = is_unix ? sizeof(struct unix_diag_msg) : sizeof(struct inet_diag_msg);
	_Alignas(struct nlmsghdr) char buf[RECEIVE_SIZE];
	int messages = 0;

	if (is_unix ? !request_unix(netlink)
	            : !request_inet(netlink, table == SOCK_DIAG_TCP4 ? AF_INET : AF_INET6))
		return false;
	while (messages < MAX_MESSAGES) {
		ssize_t len = recv(netlink, buf, sizeof(buf), MSG_TRUNC);

		if (len <= 0 || (size_t)len > sizeof(buf))
			return false;
		for (const struct nlmsghdr *h = (const void *)buf; NLMSG_OK(h, (size_t)len);
		     h = NLMSG_NEXT(h, len)) {
			if (h->nlmsg_type == NLMSG_DONE)
				return true;
			if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
			    h->nlmsg_len < NLMSG_LENGTH(fixed) || messages++ == MAX_MESSAGES)
				return false;
			(is_unix ? sock_diag_parse_unix : sock_diag_parse_inet)(
				NLMSG_DATA(h), h->nlmsg_len - NLMSG_HDRLEN, fn, arg);
		}
	}
	return false;
}
