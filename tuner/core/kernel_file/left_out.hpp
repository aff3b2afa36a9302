#pragma once
/// Fills in the directives that a kernel file leaves out. Private to this room.

#include <tuner/core/kernel_file/kernel_draft.hpp>

namespace tuner {

/// For each launch of the kernel, fills in the directives that were left out:
/// - `instantiate`: the function with the name of the launch.
/// - `arguments`: those of the function, by their names.
/// - `block`: the parameters `block_size_x`, `_y` and `_z`, as in Kernel Tuner.
/// If the file has no `type`, fills in the types of buffers and scalars. If all launches leave out `instantiate`, adds
/// a `define` for each parameter and choice that occurs in the text and is not an argument. Throws SpecError at a
/// launch for which the text does not have the information.
void fill_in_from_text(KernelDraft& draft);

}  // namespace tuner
