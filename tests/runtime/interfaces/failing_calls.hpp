#pragma once
/// Makes one allocation or one system call of this process fail. A program that links failing_calls.cpp has its own
/// malloc() and its own functions of the system in place of the C library's.

namespace tuner::testing {

enum class Failing { allocations, calls };

/// Starts to count the allocations or the system calls of all threads. The \p nth fails, once; 0: none.
void begin_to_fail(Failing what, long nth);
/// Ends that. Returns how many there were.
long end_to_fail();

}  // namespace tuner::testing
