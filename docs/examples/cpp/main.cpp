// The softmax of rows on the GPU, from C++: nothing is given back by hand. Compares with the CPU.

#include "gpu.hpp"
#include "softmax.hpp"

#include <cmath>
#include <cstdio>
#include <exception>

// The softmax of row i of an m x n matrix, in double precision.
static std::vector<double> right_row(const std::vector<float> &x, std::size_t n, std::size_t i)
{
    std::vector<double> row(n);
    double sum = 0;
    for (std::size_t j = 0; j < n; j++)
        sum += row[j] = std::exp(double{x[i * n + j]});
    for (double &value : row)
        value /= sum;
    return row;
}

// Computes m rows of n, and counts the elements that differ from the CPU's.
static int run(const ingot::unique_module &module, std::size_t m, std::size_t n)
{
    std::vector<float> x(m * n);
    for (std::size_t i = 0; i < x.size(); i++)
        x[i] = static_cast<float>(i * 7919 % 1000) / 100.0f;

    const gpu::stream stream;
    const gpu::array<float> X(x);
    gpu::array<float> Y(m * n);
    gpu::array<unsigned char> workspace(softmax_workspace(m, n));
    if (softmax(module, stream, m, n, X, Y, workspace))
        throw std::runtime_error(module.error());
    stream.wait();

    const std::vector<float> y = Y.host();
    int wrong = 0;
    for (std::size_t i = 0; i < m; i++) {
        const std::vector<double> right = right_row(x, n, i);
        for (std::size_t j = 0; j < n; j++)
            wrong += !(std::fabs(y[i * n + j] - right[j]) < 1e-5);
    }
    std::printf("softmax: %zu rows of %zu, %d wrong; y[3] = %.6f\n", m, n, wrong, y[3]);
    return wrong;
}

int main()
try {
    gpu::check(cudaSetDevice(0));
    const auto module = ingot::unique_module::open(softmax_artifact, {softmax_fatbin, sizeof softmax_fatbin});
    if (!module || module.preload())
        throw std::runtime_error(module.error());
    return run(module, 37, 1001) != 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
