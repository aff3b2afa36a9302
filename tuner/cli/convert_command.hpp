#pragma once
/// `tune convert`: kernels of other tuners as kernel files.

namespace tuner::cli {

int convert_command(int argc, char** argv);

}  // namespace tuner::cli
