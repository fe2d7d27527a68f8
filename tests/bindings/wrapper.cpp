// Launches the kernel of object.ing by its C++ header, on the driver that argv[1] names; prints what went wrong.

#include "names.hpp"
#include "object.hpp"

#include <array>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

struct alignas(2) __half {
    uint16_t x;
};

static_assert(!std::is_copy_constructible<ingot::unique_module>::value, "one owner");
static_assert(std::is_convertible<std::vector<float> &, ingot::span<const float>>::value, "of a container");
static_assert(std::is_convertible<ingot::span<float>, ingot::span<const float>>::value, "read-only");
static_assert(!std::is_convertible<ingot::span<const float>, ingot::span<float>>::value, "stays read-only");
static_assert(!std::is_convertible<std::vector<double> &, ingot::span<float>>::value, "of one type");
static_assert(std::is_constructible<ingot::span<const ingot_f16>, const __half *, std::size_t>::value, "of CUDA's type");
static_assert(!std::is_constructible<ingot::span<ingot_f16>, const __half *, std::size_t>::value, "stays read-only");
static_assert(!std::is_constructible<ingot::span<ingot_bf16>, __half *, std::size_t>::value, "distinct");

// Counts a condition that does not hold.
static int wrong(bool holds, const char *what, const std::string &text = "")
{
    if (!holds)
        std::printf("wrong: %s: %s\n", what, text.c_str());
    return !holds;
}

int main(int argc, char **argv)
{
    const ingot_options options = {argc > 1 ? argv[1] : nullptr, 0, 0};
    std::array<float, 1000> a = {}, c = {};
    auto none = ingot::unique_module::open_file(object_artifact, "no such file");
    int faults = wrong(!none && none.status() == INGOT_FILE, "a missing file", none.error());
    none = ingot::unique_module::open_file(object_artifact, "object.fatbin", &options);
    auto module = std::move(none);
    faults += wrong(module && !module.preload(), "open", module.error());
    faults += wrong(!vadd(module, nullptr, 1000, a, c, 1.0f), "launch", module.error());
    faults += wrong(vadd(module, nullptr, 1001, a, c, 1.0f) == INGOT_BAD_SIZE, "too small");
    faults += wrong(module.error().find("A: smaller than f32[n]") != std::string::npos, "text", module.error());
    faults += wrong(vadd(module, nullptr, -1, a, c, 1.0f) == INGOT_BAD_SIZE, "negative");
    faults += wrong(module.error().find("n >= 0") != std::string::npos, "text", module.error());
    faults += wrong(!vadd(module, nullptr, 2, {a.data(), 2}, c, 1.0f, {}), "parts", module.error());
    faults += wrong(fixed_workspace() > 0 && fixed(module, nullptr, {nullptr, 4096}, {nullptr, 4096}) == INGOT_BAD_SIZE,
                    "no workspace");
    return faults;
}
