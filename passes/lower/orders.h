// The coordinates of a tile, from its number in a tile order (raster).

#ifndef PASSES_LOWER_ORDERS_H
#define PASSES_LOWER_ORDERS_H

#include "passes/analysis/facts.h"
#include "passes/analysis/tiles.h"
#include "passes/pass.h"

// A grid of tiles, and a tile in it.
struct order_tile {
    struct pass *p;
    struct facts *facts;            // what is known of the number, and of names
    const struct ir_stmt *from;     // names are made from it
    struct ir_block *out;           // and appended here
    struct ir_expr *rows, *columns; // of the grid
    int64_t group;
    struct ir_expr *row, *column; // of the tile
};

// Find the row and the column of tile `number` of rows * columns.
void orders_find(struct order_tile *t, enum tile_order order,
                 struct ir_expr *number);

#endif
