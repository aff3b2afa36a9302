#pragma once
/// The contract between compiled kernels and the engine that runs them: plain structs and a table of functions, so
/// that a kernel's shared object links against nothing. Included by both sides; no standard headers.

namespace tuner_host {

/// Raised with every change below; a kernel of another version is not loaded.
inline constexpr unsigned kAbiVersion = 7;

struct Index {
  unsigned x, y, z;
};

/// The kernel thread that is running.
struct Thread {
  Index index;
  unsigned linear;  // x + y * dim.x + z * dim.x * dim.y
};

/// What a texture or surface object points to. Begins with its own address, which tells it from other numbers.
struct TextureObject {
  const TextureObject* self;
  unsigned char* data;         // elements, x fastest
  unsigned long long size[3];  // in elements; 1 where there is no such dimension
  int dimensions;
  int components;
  int bytes;  // of a component
  enum Kind : int { kSigned, kUnsigned, kHalf, kFloat } kind;
  enum Outside : int { kClamp, kBorder, kWrap, kMirror } outside;
  bool linear, normalized, as_float;
  bool fetched;  // linear memory: by tex1Dfetch alone
  bool surface;  // and no texture
};

struct Api;

/// The thread block that an operating-system thread is running.
struct Block {
  const Api* api;
  void* shared;  // dynamic shared memory; the same address for the life of the operating-system thread
  Index index, dim, grid;
  unsigned threads;             // in the block
  unsigned next;                // how many threads have been started
  const unsigned short* order;  // linear indices in the order of their start; null: 0, 1, 2, …
  unsigned live;                // threads that have not returned
  unsigned waiting;             // threads inside a collective
  const int* stop;              // not 0: leave as soon as possible
  unsigned exited[32];          // by warp: lanes that have returned
  bool cooperative;             // the blocks of the launch may meet
};

/// Where a kernel's shared object finds its thread and block; one for each operating-system thread.
struct Context {
  Thread* thread;
  Block* block;
};

/// When an interleaved object switches to another thread of its block; one for each operating-system thread.
struct Accesses {
  unsigned long left;                          // switches when the accesses from now on weigh this much
  unsigned long private_begin, private_bytes;  // the stacks of kernel threads, which no other thread looks at
  void (*due)();                               // switches and sets left; null: never
  unsigned long shared_begin, shared_bytes;    // dynamic shared memory, which no other block looks at
  unsigned long updates;                       // until the next pause, in which other blocks run on; 0: none comes
  void (*pause)();                             // pauses and sets updates
  const void* read[64];                        // addresses that were read lately, each in the place of its low bits
};

enum BlockOperation : int { kBarrier, kBarrierCount, kBarrierAnd, kBarrierOr, kGridBarrier };

enum WarpOperation : int {
  kSyncWarp,
  kShuffle,
  kBallot,
  kMatchAny,
  kAdd,
  kMinSigned,
  kMaxSigned,
  kMinUnsigned,
  kMaxUnsigned,
  kAnd,
  kOr,
  kXor
};

/// Functions that kernels call. file and line name the place in the kernel, for messages.
struct Api {
  unsigned version;
  /// Waits until every live thread of the block is here; the result is that of __syncthreads_count/and/or.
  /// kGridBarrier: and until every other block is.
  int (*meet_block)(Block*, int operation, int predicate, const char* file, int line);
  /// Waits until every live lane of \p mask is here. kShuffle: \p lane is the lane to read from.
  unsigned long long (*meet_warp)(Block*, int operation, unsigned mask, unsigned long long value, unsigned lane,
                                  const char* file, int line);
  /// Must be called when a thread returns while others wait: it may be the one that they waited for.
  void (*thread_exited)(Block*);
  /// Lets other threads of the block run.
  void (*yield)(Block*);
  /// Ends the launch with an error; does not return. \p file may be null: no place is known.
  void (*fail)(Block*, const char* message, const char* file, int line);
};

/// What the shared object exports as tuner_host_bind.
using Bind = int(const Api*);
using GetContext = Context*();
/// What an interleaved object exports as tuner_host_accesses.
using GetAccesses = Accesses*();
/// One kernel: runs threads of the current block until none is left to start.
using Entry = void(void* const* arguments);

struct EntryInfo {
  Entry* run;
  const unsigned* sizes;  // of the arguments, bytes
  unsigned arguments;
  const char* type;  // of the function, as std::type_info names it
};

}  // namespace tuner_host
