/* Runs the kernels of a batch on the arguments in a file, each buffer a piece of memory of its own: the sanitiser knows where
   it ends. Writes what they return and what the buffers hold then. A kernel's number is printed before it runs. */
#include <stdio.h>

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
        int64_t fields = number(in), buffers = number(in);
        int64_t *v = malloc(fields * sizeof *v), *slots = malloc(buffers * 2 * sizeof *slots);
        if (fread(v, sizeof *v, fields, in) != (size_t)fields) return 3;
        for (int64_t k = 0; k < buffers; ++k) {
            slots[2 * k] = number(in);
            size_t size = slots[2 * k + 1] = number(in);
            void *memory = malloc(size);
            if (fread(memory, 1, size, in) != size) return 3;
            v[slots[2 * k]] = (int64_t)memory;
        }
        if (at >= first) {
            fprintf(stderr, "kernel %lld\n", (long long)at);
            fflush(stderr);
            int64_t said[5] = {at, kernels[at](v), v[8], v[9], v[10]};
            fwrite(said, sizeof said, 1, out);
            for (int64_t k = 0; k < buffers; ++k)
                fwrite((void *)v[slots[2 * k]], 1, slots[2 * k + 1], out);
            fflush(out);
        }
        for (int64_t k = 0; k < buffers; ++k) free((void *)v[slots[2 * k]]);
        free(slots);
        free(v);
    }
    return 0;
}
