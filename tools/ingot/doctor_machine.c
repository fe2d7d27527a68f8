// What a machine has for building and running kernels.

#include "tools/ingot/doctor.h"

#include "nvptx/process.h"
#include "nvptx/ptxas.h"
#include "tools/ingot/driver.h"
#include "tools/ingot/json.h"

#include <limits.h>
#include <llvm/Config/llvm-config.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION_MS = 10000, ATTRIBUTE_SMS = 16, MAJOR = 75, MINOR = 76 };

// The tools; those of CUDA say their version all alike.
static const struct {
    const char *name, *used_by;
    bool is_cuda;
} needs[DOCTOR_TOOLS] = {
    {"ptxas", "build, run and tune make machine code by it", true},
    {"nvdisasm", "inspect --sass and --loop show machine code by it", true},
    {"fatbinary", "build --fatbinary alone needs it", true},
    {"libdevice", "sin, exp and other functions of f32 and f64 need it", false},
    {"cc", "run and check compile large references by it", false},
};

// Look for a tool.
static struct doctor_tool find_tool(struct arena *a, const struct toolchain *t,
                                    size_t i)
{
    struct doctor_tool tool = {needs[i].name, needs[i].used_by, 0, 0, 0};
    if (needs[i].is_cuda) {
        tool.path = process_find(a, tool.name, t->folders, t->n, t->path);
        struct ptxas asked = {.path = tool.path, .limit_ms = VERSION_MS};
        tool.version = tool.path ? ptxas_version(a, &asked) : NULL;
        tool.is_broken = tool.path && !tool.version;
    } else if (strcmp(tool.name, "libdevice") == 0) {
        tool.path = toolchain_libdevice_path(t, a);
    } else {
        tool.path = process_find(a, tool.name, NULL, 0, getenv("PATH"));
    }
    return tool;
}

// Copy a number to the GPU and back.  Returns whether it came.
static bool copies(const struct driver *d)
{
    uint64_t at = 0, sent = 0x0123456789abcdef, got = 0;
    bool ok = !d->cuMemAlloc_v2(&at, sizeof sent) &&
              !d->cuMemcpyHtoD_v2(at, &sent, sizeof sent) &&
              !d->cuMemcpyDtoH_v2(&got, at, sizeof got);
    if (at)
        d->cuMemFree_v2(at);
    return ok && got == sent;
}

// Add all GPUs of a driver; one that does not describe itself has no name.
static void add_gpus(struct arena *a, const struct driver *d,
                     struct doctor_machine *m)
{
    for (int i = 0; i < d->count; i++) {
        struct doctor_gpu gpu = {0};
        int device, major = 0, minor = 0;
        if (!d->cuDeviceGet(&device, i) &&
            !d->cuDeviceGetName(gpu.name, sizeof gpu.name, device)) {
            d->cuDeviceGetAttribute(&major, MAJOR, device);
            d->cuDeviceGetAttribute(&minor, MINOR, device);
            d->cuDeviceGetAttribute(&gpu.sms, ATTRIBUTE_SMS, device);
        }
        gpu.sm = (unsigned)(major * 10 + minor);
        vec_push(a, &m->gpus, gpu);
    }
}

void doctor_machine(struct arena *a, const struct toolchain *tools,
                    const char *driver, struct doctor_machine *out)
{
    struct driver d;
    *out = (struct doctor_machine){0};
    for (size_t i = 0; i < DOCTOR_TOOLS; i++)
        out->tools[i] = find_tool(a, tools, i);
    out->no_gpu = driver_open(&d, driver);
    if (out->no_gpu)
        return;
    out->driver = d.version;
    out->is_copying = copies(&d);
    add_gpus(a, &d, out);
    driver_close(&d);
}

bool doctor_is_well(const struct doctor_machine *m)
{
    for (size_t i = 0; i < DOCTOR_TOOLS; i++)
        if (m->tools[i].is_broken)
            return false;
    return m->no_gpu || m->is_copying;
}

// Append the row of a tool.
static void print_tool(const struct doctor_tool *t, struct buf *out)
{
    buf_printf(out, "%-10s ", t->name);
    if (!t->path)
        buf_printf(out, "missing: %s\n", t->used_by);
    else if (t->is_broken)
        buf_printf(out, "%s does not run, or says no version: %s\n", t->path,
                   t->used_by);
    else
        buf_printf(out, "%s%s%s\n", t->version ? t->version : "",
                   t->version ? "  " : "", t->path);
}

void doctor_print_machine(const struct doctor_machine *m, struct buf *out)
{
    buf_printf(out, "%-10s %s, with LLVM %s\n", "ingot", INGOT_VERSION,
               LLVM_VERSION_STRING);
    for (size_t i = 0; i < DOCTOR_TOOLS; i++)
        print_tool(&m->tools[i], out);
    if (m->no_gpu) {
        buf_printf(out, "%-10s %s\n", "driver", m->no_gpu);
        return;
    }
    buf_printf(out, "%-10s for CUDA %d.%d\n", "driver", m->driver / 1000,
               m->driver % 1000 / 10);
    for (size_t i = 0; i < m->gpus.n; i++) {
        const struct doctor_gpu *g = &m->gpus.at[i];
        buf_printf(out, "GPU %-6zu %s, sm_%u, %d SMs\n", i, g->name, g->sm,
                   g->sms);
    }
    if (!m->is_copying)
        buf_text(out, "GPU 0 does not give back what is copied to it\n");
}

json_t *doctor_machine_json(const struct doctor_machine *m)
{
    json_t *tools = json_array(), *gpus = json_array();
    for (size_t i = 0; i < DOCTOR_TOOLS; i++)
        json_array_append_new(
            tools, json_pack("{s:s, s:o, s:o, s:b}", "name", m->tools[i].name,
                             "path", json_text(m->tools[i].path), "version",
                             json_text(m->tools[i].version), "runs",
                             m->tools[i].path && !m->tools[i].is_broken));
    for (size_t i = 0; i < m->gpus.n; i++)
        json_array_append_new(gpus, json_pack("{s:o, s:i, s:i}", "name",
                                              json_text(m->gpus.at[i].name),
                                              "sm", (int)m->gpus.at[i].sm,
                                              "sms", m->gpus.at[i].sms));
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:b}", "ingot",
                     INGOT_VERSION, "llvm", LLVM_VERSION_STRING, "tools", tools,
                     "no_gpu", json_text(m->no_gpu), "driver",
                     m->no_gpu ? json_null() : json_integer(m->driver), "gpus",
                     gpus, "is_well", doctor_is_well(m));
}
