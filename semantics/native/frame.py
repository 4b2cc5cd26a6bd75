"""The C of what a kernel shares with its caller: the numbers of a call, fuel, and memory.

The buffers of a kernel that are allocated once, with sizes that are known at its start, lie one
after the other in the workspace (``TOGETHER``): all of them, and all fuel, are checked at once. In
tests each may be memory of its own instead, which the caller gives (``APART``).
"""

FIRST_SLOT = 16
"""The index of the first scalar or extent in the numbers passed to a kernel."""

FUEL, LIMIT, LIVE, WORKSPACE, ROOM, USED, WANTED, LAST_BLOCK, *_REST = range(FIRST_SLOT)
SITE, FIRST_VALUE, SECOND_VALUE, DAMAGED, RETURNED, HAS_RETURNED, TAKE, GIVE_BACK = _REST
"""The indices of the numbers before it, which the comment in ``FRAME`` explains."""

LEFT = 2
"""The status that a kernel for some arguments returns for others."""


def beginning(limit: int) -> list[int]:
    """The numbers before the first slot, of a kernel that may allocate so many bytes."""
    numbers = [0] * FIRST_SLOT
    numbers[LIMIT] = limit
    return numbers


FRAME = r"""
/* v: 0 fuel, 1 limit and 2 live (bytes), 3 workspace, 4 its size, 5 used, 6 wanted, 7 the last block of other memory,
   8 site, 9 and 10 its values, 11 whether something was written behind or before other memory, 12 a value returned, 13 whether
   there is one, 14 and 15 the functions that take a block of other memory, and give back all but what was taken before one,
   from 16 the scalars and the extents of buffers. */
#define RLX_FUEL v[0]
#define RLX_STOP(site, a, b) do { v[8] = (site); v[9] = (a); v[10] = (b); goto stop; } while (0)
#define RLX_PAY(amount, site) do { \
    if (RLX_RARE(RLX_FUEL < (amount))) RLX_STOP(site, 0, 0); \
    RLX_FUEL -= (amount); } while (0)
#define RLX_SPEND(amount, site) do { \
    double rlx_amount = (amount); \
    if (RLX_RARE(rlx_amount > (double)RLX_FUEL || rlx_amount >= 0x1p63)) RLX_STOP(site, 0, 0); \
    RLX_FUEL -= (int64_t)rlx_amount; } while (0)
#define RLX_EXTENTS(first, wanted, count, site) do { \
    _Pragma("GCC unroll 1") \
    for (int64_t k = 0; k < (count); ++k) \
        if (RLX_RARE(v[(first) + k] != wanted[k])) RLX_STOP((site) + k, v[(first) + k], wanted[k]); \
    } while (0)
typedef struct { int64_t used, list, live; } rlx_mark;
static rlx_mark rlx_remember(const int64_t *v) { rlx_mark m = {v[5], v[7], v[2]}; return m; }

static __attribute__((noinline, unused)) int64_t rlx_size(const int64_t *dims, int count) {
    int64_t size = 1;
    int empty = 0;
    for (int i = 0; i < count; ++i) {
        if (dims[i] < 0) return -1;
        if (dims[i] == 0) empty = 1;
    }
    if (empty) return 0;
    for (int i = 0; i < count; ++i)
        if (__builtin_mul_overflow(size, dims[i], &size)) return -1;
    return size;
}

static __attribute__((noinline, unused)) void *rlx_take(int64_t *v, int64_t size) {
    int64_t at = v[5];
    if (size < 0 || size > v[1] - v[2]) return NULL;
    v[2] += size;
    v[5] = at + ((size + 127) & ~(int64_t)63);
    if (v[5] > v[6]) v[6] = v[5];
    return v[5] <= v[4] ? (char *)v[3] + at : ((char *(*)(int64_t *, int64_t))v[14])(v, size);
}

#define RLX_LESS(v, list) ((void (*)(int64_t *, int64_t))v[15])(v, list)
static __attribute__((noinline, unused)) void rlx_release(int64_t *v, rlx_mark mark) {
    if (v[7] != mark.list) RLX_LESS(v, mark.list);
    v[5] = mark.used;
    v[2] = mark.live;
}
#define RLX_RELEASE_ALL { \
    if (RLX_RARE(v[7])) RLX_LESS(v, 0); \
    v[5] = v[2] = 0; }
"""

TOGETHER = r"""
#define RLX_PLACE(at, size, site) ((void *)(((char **)v)[3] + (at)))
#define RLX_NO_ROOM(all, used) (((v[6] = (all)) > v[4]) | (v[1] < (used)))
#define RLX_NO_FUEL(amount) (RLX_FUEL < (amount))
#define RLX_PREPAID(amount, site)
"""

APART = r"""
#define RLX_PLACE(at, size, site) \
    ({ void *rlx_place = rlx_take(v, size); if (RLX_RARE(!rlx_place)) RLX_STOP(site, 0, 0); rlx_place; })
#define RLX_NO_ROOM(all, used) 0
#define RLX_NO_FUEL(amount) 0
#define RLX_PREPAID(amount, site) RLX_PAY(amount, site)
"""
