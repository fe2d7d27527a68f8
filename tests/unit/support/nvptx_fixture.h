// Emission for tests: kernels as text, and what came out.

#ifndef TESTS_UNIT_SUPPORT_NVPTX_FIXTURE_H
#define TESTS_UNIT_SUPPORT_NVPTX_FIXTURE_H

#include "nvptx/nvptx.h"
#include "tests/unit/support/package_fixture.h"

// What a test of emission works with.
struct emission {
    struct fixture base;          // arena, names, diagnostics
    struct nvptx_options options; // PTX for sm_80, level 2, with libdevice
    struct buf libdevice;         // its bitcode; empty if it is not at hand
};

// Make a fresh one.
void emission_start(struct emission *t);

// Release everything.
void emission_end(struct emission *t);

// Choose the architecture.
void emission_target(struct emission *t, const char *name);

// Return what a kernel, as text, becomes; the test fails if it fails.
const char *emission_text(struct emission *t, const char *kernel);

// Print what was reported.
void emission_show(const struct diag_list *diags);

// Check that a kernel is refused with one error of that code.
void emission_refuses(struct emission *t, const char *kernel,
                      enum diag_code code);

// Assemble PTX for the chosen architecture where ptxas is at hand; the test
// fails if that fails.  Instrumented builds leave it to others: they write the
// same PTX, and the assembler is not instrumented.
void emission_assemble(struct emission *t, const char *ptx);

#endif
