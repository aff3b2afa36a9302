#pragma once
/// What a kernel file need not say because the text of its kernel does. Private to this room.

#include <tuner/core/kernel_draft.hpp>

namespace tuner {

/// Fills in, for each launch of the kernel, the `instantiate` that was left out (the function called as the launch is),
/// its `arguments` (those of the function, by their names) and its `block` (`block_size_x`, `_y` and `_z`, which Kernel
/// Tuner reads too); then types of buffers and scalars where the file has no `type`; and, where no launch says what it
/// instantiates, a `define` of each parameter and choice that stands in the text and is no argument.
/// Throws SpecError at a launch whose function does not say.
void fill_in_from_text(KernelDraft& draft);

}  // namespace tuner
