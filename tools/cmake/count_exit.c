// Linked into builds that count executed lines, with --wrap=_exit: a process
// that ends by _exit writes its counters too.

void __wrap__exit(int status) __attribute__((noreturn));
void __real__exit(int status) __attribute__((noreturn));
void __gcov_dump(void);

void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}
