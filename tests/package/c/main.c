// Ends with 0 if each library has a runtime of its own.

#include <stdint.h>

uintptr_t runtime_of_one(void);
uintptr_t runtime_of_two(void);

int main(void)
{
    return runtime_of_one() == runtime_of_two();
}
