// A library that loads a module: where its runtime is.

#include "scale.v2.h"

uintptr_t runtime_of_one(void);

uintptr_t runtime_of_one(void)
{
    return (uintptr_t)ingot_open_file;
}
