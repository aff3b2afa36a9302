#pragma once
/// The whole public API. C++17.

#include <tuner/array.hpp>
#include <tuner/record.hpp>
#include <tuner/error.hpp>
#include <tuner/kernel.hpp>
#include <tuner/kernel_builder.hpp>
#include <tuner/reduce.hpp>
#include <tuner/run.hpp>
#include <tuner/settings.hpp>
#include <tuner/sum_matrix_2d.hpp>
#include <tuner/tune.hpp>
#include <tuner/version.hpp>
