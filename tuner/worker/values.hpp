#pragma once
/// How the values of core, backend and measure are written and read (serialise.hpp).

#include <tuner/backend/backend.hpp>
#include <tuner/core/configuration.hpp>
#include <tuner/core/device.hpp>
#include <tuner/core/outcome.hpp>
#include <tuner/core/problem_size.hpp>
#include <tuner/measure/measure_options.hpp>
#include <tuner/worker/serialise.hpp>

namespace tuner::worker {

void write(Writer& out, const Configuration& value);
void read(Reader& in, Configuration& value);
void write(Writer& out, const ProblemSize& value);
void read(Reader& in, ProblemSize& value);
void write(Writer& out, const Device& value);
void read(Reader& in, Device& value);
void write(Writer& out, const MeasureOptions& value);
void read(Reader& in, MeasureOptions& value);
void write(Writer& out, const Resources& value);
void read(Reader& in, Resources& value);
void write(Writer& out, const CompiledFunction& value);
void read(Reader& in, CompiledFunction& value);
void write(Writer& out, const Image& value);
void read(Reader& in, Image& value);
void write(Writer& out, const CompileError& value);
void read(Reader& in, CompileError& value);
void write(Writer& out, const CompileRequest& value);
void read(Reader& in, CompileRequest& value);
void write(Writer& out, const Trial& value);
void read(Reader& in, Trial& value);

}  // namespace tuner::worker
