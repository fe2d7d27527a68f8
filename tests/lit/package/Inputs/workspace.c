// Prints the workspace of `scale` for some sizes.

#include "workspace-by-guard.h"

#include <stdio.h>

int main(void)
{
    static const int64_t sizes[] = {8, 9, 16, 3000, 5000, INT64_MAX / 4 - 7};
    (void)scale;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        printf("%s%zu", i ? " " : "", scale_workspace(sizes[i]));
    printf("\n");
    return 0;
}
