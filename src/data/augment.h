/* augment.h: one image into a batch, normalized and randomly changed. No threads, no order, no state: what happens to
 * an image is a function of (seed, epoch, row) alone. Called by loader.c, once a row. */
#ifndef LG_AUGMENT_H
#define LG_AUGMENT_H
#include "gather.h"

typedef struct {
  int64_t height, width; /* of every plane of an image */
  int32_t crop;          /* pixels of border around the image before a window of its size is cut out; 0: no crop */
  int32_t flip;          /* 1: mirrored left to right, every second time on average */
  int32_t cutout;        /* side of the square that is erased; 0: none */
  double erase;          /* probability that a rectangle becomes noise */
} lg_augment;

/* Checks what is asked for against the data's dtype and shape [N, C, H, W] and fills *out. */
lg_status lg_augment_init(lg_augment *out, int32_t dtype, int32_t rank, const int64_t *shape, int32_t crop,
                          int32_t flip, int32_t cutout);
/* to[C, H, W] (f32) from row number `row` of x at from, in this order: crop (the border is 0 before normalization, as
 * black pixels), flip, normalization with affine[channels], cutout (0 after normalization: the channel's mean),
 * erasing (standard normal noise after normalization). */
void lg_augment_row(float *to, const void *from, const lg_rows *x, const lg_affine *affine, const lg_augment *a,
                    uint64_t seed, uint64_t epoch, int64_t row);
#endif
