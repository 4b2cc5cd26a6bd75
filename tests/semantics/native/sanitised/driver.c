/* Runs the kernels of a batch on the arguments in a file, each buffer a piece of memory of its own or, with others, a part of one. Writes what they return and
   what the buffers hold then. A kernel's number is printed before it runs.

   With a sanitiser, that knows where a buffer ends. With RLX_FENCED nothing is added to the kernels: a buffer ends at a page that
   cannot be touched, or begins behind one, and the rest of its own pages must stay as it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef RLX_FENCED
#include <sys/mman.h>
enum { PAGE = 4096, FILL = 0xa7 };

static int64_t pages(int64_t size) { return (size + PAGE - 1) / PAGE * PAGE; }

/* Behind the buffer, or (where `first`) in front of it, is the page. */
static char *take(int64_t size, int first) {
    int64_t room = pages(size);
    char *all = mmap(NULL, room + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || (room && mprotect(all + PAGE, room, PROT_READ | PROT_WRITE))) exit(3);
    memset(all + PAGE, FILL, room);
    return all + PAGE + (first ? 0 : room - size);
}

/* Whether the rest of the pages is as it was; they are given back. */
static int give(char *buffer, int64_t size, int first) {
    int64_t room = pages(size);
    char *all = buffer - (first ? 0 : room - size), *rest = first ? buffer + size : all;
    int changed = 0;
    for (int64_t k = 0; k < room - size; ++k) changed |= (unsigned char)rest[k] ^ FILL;
    munmap(all - PAGE, room + 2 * PAGE);
    return !changed;
}
#else
static char *take(int64_t size, int first) { return malloc(size); }
static int give(char *buffer, int64_t size, int first) { free(buffer); return 1; }
#endif

/* Memory that a kernel allocates is like a buffer of the caller. */
struct block { char *memory; int64_t size, before; };

static void *more(int64_t *v, int64_t size) {
    struct block *made = malloc(sizeof *made);
    *made = (struct block){take(size, size / 4 % 2), size, v[7]};
    v[7] = (int64_t)made;
    return made->memory;
}

static void less(int64_t *v, int64_t until) {
    while (v[7] != until) {
        struct block *last = (struct block *)v[7];
        if (!give(last->memory, last->size, last->size / 4 % 2)) v[11] = 1;
        v[7] = last->before;
        free(last);
    }
}

static int64_t number(FILE *file) {
    int64_t value;
    if (fread(&value, sizeof value, 1, file) != 1) exit(3);
    return value;
}

int main(int count, char **words) {
    if (count != 4) return 3;
    FILE *in = fopen(words[1], "rb"), *out = fopen(words[2], "ab");
    int64_t first = atoll(words[3]), at;
    if (!in || !out) return 3;
    while (fread(&at, sizeof at, 1, in) == 1) {
        int64_t fields = number(in), pieces = number(in), buffers = number(in), intact = 1;
        int64_t *v = malloc(fields * sizeof *v), *sizes = malloc((pieces + buffers) * sizeof *sizes);
        int64_t *lengths = sizes + pieces;
        void **p = malloc((pieces + buffers) * sizeof *p), **memory = p + buffers;
        if (fread(v, sizeof *v, fields, in) != (size_t)fields) return 3;
        for (int64_t k = 0; k < pieces; ++k) {
            size_t size = sizes[k] = number(in);
            memory[k] = take(size, (at / 4 + k) % 4 == 3);
            if (fread(memory[k], 1, size, in) != size) return 3;
        }
        for (int64_t k = 0; k < buffers; ++k) {
            char *begin = memory[number(in)];
            p[k] = begin + number(in);
            lengths[k] = number(in);
        }
        if (at >= first) {
            fprintf(stderr, "kernel %lld\n", (long long)at);
            fflush(stderr);
            v[14] = (int64_t)more;
            v[15] = (int64_t)less;
            int64_t said[5] = {at, kernels[at](v, p), v[8], v[9], v[10]};
            fwrite(said, sizeof said, 1, out);
            for (int64_t k = 0; k < buffers; ++k) fwrite(p[k], 1, lengths[k], out);
            fflush(out);
            less(v, 0);
            intact = !v[11];
        }
        for (int64_t k = 0; k < pieces; ++k)
            intact &= give(memory[k], sizes[k], (at / 4 + k) % 4 == 3);
        if (!intact) {
            fprintf(stderr, "it wrote beside its buffers\n");
            return 4;
        }
        free(sizes);
        free(p);
        free(v);
    }
    return 0;
}
