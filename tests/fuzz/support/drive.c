// Runs a fuzz target without libFuzzer: each seed as it is, then a fixed
// number of inputs that are made of the seeds by chance, the same in every run.
//
//   fuzz_parse -runs=20000 -seed=1 -max_len=4096 -timeout=10
//              -dict=FILE FOLDER...
//
// are options of libFuzzer, which a fuzz build links instead.  The input that
// runs lies in the file `last` of the working folder, for when it ends the
// process.

#define _DEFAULT_SOURCE // setitimer

#include "ir/base/vec.h"

#include "input.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

enum { SIZE_MOST = 1 << 20, CHANGES_MOST = 4, PIECE_MOST = 64 };

// Some bytes.
struct bytes {
    const uint8_t *at;
    size_t n;
};

// What the command line says, the seeds, the words of the dictionary, and the
// input that is being made.
struct drive {
    struct arena arena;
    struct VEC(struct bytes) seeds, words;
    unsigned long runs, max_len, timeout;
    uint64_t random; // state of the generator, not 0
    uint8_t *input;  // SIZE_MOST bytes
    size_t n;
    int last; // the file
};

// Print why the run cannot begin, and end the process.
static _Noreturn void stop(const char *what)
{
    perror(what);
    exit(2);
}

// Return the next random number below n, which is not 0.
static size_t below(struct drive *d, size_t n)
{
    d->random ^= d->random << 13;
    d->random ^= d->random >> 7;
    d->random ^= d->random << 17;
    return (size_t)(d->random >> 11) % n;
}

// Return all bytes of a file, at most SIZE_MOST.
static struct bytes read_file(struct drive *d, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        stop(path);
    size_t n = fread(d->input, 1, SIZE_MOST, f);
    fclose(f);
    return (struct bytes){(uint8_t *)arena_copy(&d->arena, d->input, n), n};
}

// Add the words of a dictionary: one a line, in quotes, \xAB for any byte.
static void read_dictionary(struct drive *d, const char *path)
{
    struct bytes text = read_file(d, path);
    const char *end, *line = (const char *)text.at;
    for (; (end = strchr(line, '\n')); line = end + 1) {
        uint8_t *word = arena_alloc(&d->arena, (size_t)(end - line) + 1);
        size_t n = 0;
        for (const char *c = line + 1; *line == '"' && c < end - 1; c++) {
            bool is_escaped = *c == '\\';
            c += is_escaped;
            word[n++] = (uint8_t)*c;
            if (is_escaped && *c == 'x') {
                char digits[] = {c[1], c[2], '\0'};
                word[n - 1] = (uint8_t)strtoul(digits, NULL, 16);
                c += 2;
            }
        }
        if (n)
            vec_push(&d->arena, &d->words, (struct bytes){word, n});
    }
}

// Order names of files.
static int by_name(const struct dirent **x, const struct dirent **y)
{
    return strcmp((*x)->d_name, (*y)->d_name);
}

// Add the seeds of a folder.
static void read_folder(struct drive *d, const char *folder)
{
    struct dirent **found;
    int n = scandir(folder, &found, NULL, by_name);
    if (n < 0)
        stop(folder);
    for (int i = 0; i < n; i++) {
        const char *name = found[i]->d_name;
        const char *path = arena_printf(&d->arena, "%s/%s", folder, name);
        if (name[0] != '.')
            vec_push(&d->arena, &d->seeds, read_file(d, path));
        free(found[i]);
    }
    free(found);
}

// Replace `old` bytes of the input at a place by others.
static void replace(struct drive *d, size_t at, size_t old, struct bytes with)
{
    if (d->n - old + with.n > d->max_len)
        return;
    memmove(d->input + at + with.n, d->input + at + old, d->n - at - old);
    memcpy(d->input + at, with.at, with.n);
    d->n += with.n - old;
}

// Return a part of a seed.
static struct bytes part_of_seed(struct drive *d)
{
    struct bytes seed = d->seeds.at[below(d, d->seeds.n)];
    size_t from = below(d, seed.n + 1);
    size_t n = below(d, seed.n - from + 1);
    return (struct bytes){seed.at + from, n < PIECE_MOST ? n : PIECE_MOST};
}

// Change the input at one place: a byte, or a piece left out, put in, or
// replaced.
static void change(struct drive *d)
{
    uint8_t byte = (uint8_t)below(d, 256);
    size_t at = below(d, d->n + 1), old = below(d, d->n - at + 1);
    struct bytes with = {&byte, 1};
    if (old > PIECE_MOST)
        old = PIECE_MOST;
    switch (below(d, 5)) {
    case 0: with.n = 0; break;
    case 1: old = at < d->n; break;
    case 2: with = part_of_seed(d); break;
    case 3:
        with = part_of_seed(d);
        old = 0;
        break;
    default:
        if (d->words.n)
            with = d->words.at[below(d, d->words.n)];
        old = below(d, 2) ? 0 : old % 8;
    }
    replace(d, at, old, with);
}

// End this process if what runs takes more of the processor; 0: let it.
static void set_clock(unsigned long seconds)
{
    const struct itimerval limit = {.it_value.tv_sec = (time_t)seconds};
    setitimer(ITIMER_PROF, &limit, NULL);
}

// Run the target on some bytes, in a block of exactly their size.
static void run_one(struct drive *d, struct bytes input)
{
    uint8_t *copy = malloc(input.n ? input.n : 1);
    if (!copy || pwrite(d->last, input.at, input.n, 0) != (ssize_t)input.n ||
        ftruncate(d->last, (off_t)input.n))
        stop("last");
    memcpy(copy, input.at, input.n);
    set_clock(d->timeout);
    LLVMFuzzerTestOneInput(copy, input.n);
    set_clock(0);
    free(copy);
}

// Run the seeds, then what is made of them.
static void run_all(struct drive *d)
{
    for (size_t i = 0; i < d->seeds.n; i++)
        run_one(d, d->seeds.at[i]);
    for (unsigned long i = 0; d->seeds.n && i < d->runs; i++) {
        struct bytes seed = d->seeds.at[below(d, d->seeds.n)];
        d->n = seed.n < d->max_len ? seed.n : d->max_len;
        memcpy(d->input, seed.at, d->n);
        for (size_t left = below(d, CHANGES_MOST) + 1; left--;)
            change(d);
        run_one(d, (struct bytes){d->input, d->n});
    }
    printf("%zu seeds and %lu inputs made of them\n", d->seeds.n, d->runs);
}

// Take an option or a folder; ends the process if it is neither.
static void take(struct drive *d, const char *argument)
{
    unsigned long seed;
    if (strncmp(argument, "-dict=", 6) == 0)
        read_dictionary(d, argument + 6);
    else if (sscanf(argument, "-seed=%lu", &seed) == 1)
        d->random = seed * 2 + 1;
    else if (argument[0] != '-')
        read_folder(d, argument);
    else if (sscanf(argument, "-runs=%lu", &d->runs) != 1 &&
             sscanf(argument, "-max_len=%lu", &d->max_len) != 1 &&
             sscanf(argument, "-timeout=%lu", &d->timeout) != 1)
        stop(argument);
}

int main(int argc, char **argv)
{
    struct drive d = {.random = 1, .max_len = 4096};
    FILE *last = fopen("last", "wb");
    if (!last)
        stop("last");
    d.last = fileno(last);
    d.input = arena_alloc(&d.arena, SIZE_MOST);
    for (int i = 1; i < argc; i++)
        take(&d, argv[i]);
    run_all(&d);
    fclose(last);
    arena_reset(&d.arena);
    return 0;
}
