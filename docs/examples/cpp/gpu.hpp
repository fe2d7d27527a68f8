// Memory and streams of CUDA that give themselves back, and an exception for what fails.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

namespace gpu
{

// Throws what CUDA says, unless that is success.
inline void check(cudaError_t error)
{
    if (error)
        throw std::runtime_error(cudaGetErrorString(error));
}

// A stream.
class stream
{
  public:
    stream() { check(cudaStreamCreate(&stream_)); }
    ~stream() { cudaStreamDestroy(stream_); }
    stream(const stream &) = delete;
    stream &operator=(const stream &) = delete;

    operator cudaStream_t() const noexcept { return stream_; }
    void wait() const { check(cudaStreamSynchronize(stream_)); }

  private:
    cudaStream_t stream_ = nullptr;
};

// An array of the GPU. With data() and size() it converts to the ingot::span that launch functions take.
template <class T> class array
{
  public:
    explicit array(std::size_t size) : size_(size)
    {
        if (size)
            check(cudaMalloc(&data_, size * sizeof(T)));
    }

    explicit array(const std::vector<T> &host) : array(host.size())
    {
        check(cudaMemcpy(data_, host.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
    }

    array(array &&other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    array(const array &) = delete;
    array &operator=(const array &) = delete;
    ~array() { cudaFree(data_); }

    T *data() noexcept { return static_cast<T *>(data_); }
    const T *data() const noexcept { return static_cast<const T *>(data_); }
    std::size_t size() const noexcept { return size_; }

    // A copy of it on the host; what is queued in other streams than the default one is to be waited for.
    std::vector<T> host() const
    {
        std::vector<T> copy(size_);
        check(cudaMemcpy(copy.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
        return copy;
    }

  private:
    void *data_ = nullptr;
    std::size_t size_;
};

} // namespace gpu
