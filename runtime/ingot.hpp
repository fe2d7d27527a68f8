/* ingot.hpp: modules that close themselves, and arrays that know their size,
 * for the C++17 headers that `ingot build --bindings c++` writes.
 *
 * Nothing here throws but std::string, which ingot::unique_module::error
 * returns. */

#ifndef INGOT_HPP
#define INGOT_HPP

#include "ingot.h"

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace ingot
{

/* A T that launch functions take for the type U of CUDA's headers. */
template <class U, class T, class = void> struct is_number : std::false_type {
};
template <class U, class T>
struct is_number<U, T,
                 std::void_t<typename ingot_number<
                     typename std::remove_const<U>::type>::type>>
    : std::is_same<
          typename ingot_number<typename std::remove_const<U>::type>::type,
          typename std::remove_const<T>::type> {
};

/* An array of the GPU: its address and its elements.  Made of both, or of what
 * has data() and size(); of `__half` where T is ingot_f16, and so on. */
template <class T> class span
{
  public:
    constexpr span() noexcept = default;
    constexpr span(T *data, std::size_t size) noexcept
        : data_(data), size_(size)
    {
    }

    template <class U,
              class = typename std::enable_if<is_number<U, T>::value &&
                                              (std::is_const<T>::value ||
                                               !std::is_const<U>::value)>::type>
    span(U *data, std::size_t size) noexcept
        : data_(ingot_array_of(data)), size_(size)
    {
    }

    template <class C, class = decltype(span(std::declval<C &>().data(),
                                             std::declval<C &>().size()))>
    span(C &&array) : span(array.data(), array.size())
    {
    }

    constexpr T *data() const noexcept
    {
        return data_;
    }
    constexpr std::size_t size() const noexcept
    {
        return size_;
    }
    constexpr std::size_t size_bytes() const noexcept
    {
        return size_ * sizeof(T);
    }

    /* Whether it has that many bytes; (size_t)-1 is for the launch function to
     * refuse. */
    constexpr bool holds(std::size_t bytes) const noexcept
    {
        return bytes == static_cast<std::size_t>(-1) || size_bytes() >= bytes;
    }

  private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

/* A module, closed where this ends. */
class unique_module
{
  public:
    unique_module() noexcept = default;

    /* ingot_open and ingot_open_file; status() says how that went. */
    static unique_module open(const ingot_artifact &artifact,
                              span<const unsigned char> fatbin,
                              const ingot_options *options = nullptr) noexcept
    {
        unique_module opened;
        opened.status_ = ingot_open(&opened.module_, &artifact, fatbin.data(),
                                    fatbin.size(), options);
        return opened;
    }

    static unique_module
    open_file(const ingot_artifact &artifact, const char *path,
              const ingot_options *options = nullptr) noexcept
    {
        unique_module opened;
        opened.status_ =
            ingot_open_file(&opened.module_, &artifact, path, options);
        return opened;
    }

    unique_module(unique_module &&other) noexcept
        : module_(std::exchange(other.module_, nullptr)),
          status_(std::exchange(other.status_, INGOT_INVALID))
    {
    }

    unique_module &operator=(unique_module &&other) noexcept
    {
        std::swap(module_, other.module_);
        std::swap(status_, other.status_);
        return *this;
    }

    unique_module(const unique_module &) = delete;
    unique_module &operator=(const unique_module &) = delete;
    ~unique_module()
    {
        ingot_close(module_);
    }

    /* Of the opening. */
    enum ingot_status status() const noexcept
    {
        return status_;
    }
    explicit operator bool() const noexcept
    {
        return status_ == INGOT_OK;
    }

    /* ingot_preload and ingot_error_text. */
    enum ingot_status preload() const noexcept
    {
        return ingot_preload(module_);
    }

    std::string error() const
    {
        char text[INGOT_TEXT_SIZE];
        return ingot_error_text(module_, text, sizeof text);
    }

    ingot_module *get() const noexcept
    {
        return module_;
    }

  private:
    ingot_module *module_ = nullptr;
    enum ingot_status status_ = INGOT_INVALID;
};

} // namespace ingot

#endif
