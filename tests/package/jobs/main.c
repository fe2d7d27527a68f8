#include "one.h"
#include "two.h"

int main(void)
{
    return one_artifact.image_count != two_artifact.image_count;
}
