#pragma once
/// The contract between compiled kernels and the engine that runs them: plain structs and a table of functions, so
/// that a kernel's shared object links against nothing. Both sides include it. It includes no standard headers.

namespace tuner_host {

/// Increase this with every change below. A kernel of another version is not loaded.
inline constexpr unsigned kAbiVersion = 11;

struct Index {
  unsigned x, y, z;
};

/// The kernel thread that is running.
struct Thread {
  Index index;
  unsigned linear;  // x + y * dim.x + z * dim.x * dim.y
};

/// A texture or surface object is a pointer to this. It begins with its own address, by which it is recognised.
struct TextureObject {
  const TextureObject* self;
  unsigned char* data;         // elements, x fastest
  unsigned long long size[3];  // in elements; 1 for a missing dimension
  int dimensions;
  int components;
  int bytes;  // of a component
  enum Kind : int { kSigned, kUnsigned, kHalf, kFloat } kind;
  enum Outside : int { kClamp, kBorder, kWrap, kMirror } outside;
  bool linear, normalized, as_float;
  bool fetched;  // linear memory, which only tex1Dfetch reads
  bool surface;  // a surface, not a texture
};

struct Api;

/// The thread block that an operating-system thread is running.
struct Block {
  const Api* api;
  void* shared;  // dynamic shared memory; the same address for the life of the operating-system thread
  Index index, dim, grid;
  unsigned threads;             // in the block
  unsigned next;                // number of threads that have been started
  const unsigned short* order;  // linear indices in the order of their start; null: 0, 1, 2, …

  unsigned live;     // threads that have not returned
  unsigned waiting;  // threads inside a collective

  const int* stop;      // not 0: leave as soon as possible
  unsigned exited[32];  // by warp: lanes that have returned
  bool cooperative;     // the blocks of the launch may wait for each other

  // Shared memory, where other blocks of the cluster find it: dynamic, then static with the guards beside it.
  unsigned long shared_bytes, static_bytes;
  char* static_begin;
  Block* const* cluster;  // its blocks, by rank
  Index cluster_dim;
  unsigned cluster_rank, cluster_blocks;
};

/// The current thread and block of a kernel's shared object; one for each operating-system thread.
struct Context {
  Thread* thread;
  Block* block;
  int initial;  // not 0, so that it is not beside shared memory, which is
};

/// Bytes that no kernel may change; one of each kind for each operating-system thread.
struct Guard {
  unsigned char* begin;
  unsigned long bytes;
};

/// Decides when an interleaved object switches to another thread of its block; one for each operating-system thread.
struct Accesses {
  unsigned long left;                          // weight of the accesses until the next switch
  unsigned long private_begin, private_bytes;  // the stacks of kernel threads, which no other thread accesses
  void (*due)();                               // switches and sets left; null: never

  unsigned long shared_begin, shared_bytes;  // dynamic shared memory, which no other block accesses
  unsigned long updates;                     // until the next pause, in which other blocks continue; 0: no pause
  void (*pause)();                           // pauses and sets updates

  /// Ends the launch: an access of a type whose \p alignment does not divide \p address. A GPU faults there.
  void (*misaligned)(const void* address, unsigned alignment, const char* file, unsigned line);

  const void* read[64];  // addresses that were read lately, each at an index from its low bits
};

enum BlockOperation : int {
  kBarrier,
  kBarrierCount,
  kBarrierAnd,
  kBarrierOr,
  kGridBarrier,
  kClusterArrive,  // does not wait
  kClusterWait     // for the threads of the cluster to arrive as often as the calling one has
};

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
  kXor,
  kActiveMask  // waits until no other thread of the block can run
};

/// Functions that kernels call. For messages, file and line give the place in the kernel.
struct Api {
  unsigned version;
  /// Waits until every live thread of the block is here. The result is that of __syncthreads_count/and/or.
  /// kGridBarrier: waits for every other block too.
  int (*meet_block)(Block*, int operation, int predicate, const char* file, int line);
  /// Waits until every live lane of \p mask is here. kShuffle: \p lane is the lane to read from. kActiveMask: waits
  /// until no other thread can run; the result is the mask of the lanes of the warp that wait at this place.
  unsigned long long (*meet_warp)(Block*, int operation, unsigned mask, unsigned long long value, unsigned lane,
                                  const char* file, int line);
  /// Must be called when a thread returns while others wait: they may wait for no other.
  void (*thread_exited)(Block*);
  /// Lets other threads of the block run.
  void (*yield)(Block*);
  /// Ends the launch with an error; does not return. \p file: null if the place is not known.
  void (*fail)(Block*, const char* message, const char* file, int line);
  /// Waits for a change() in the block's cluster, which may concern another object than \p object. If \p object is not
  /// in the cluster's shared memory, other blocks may change it: then this only yields. \p bounded: returns, too, when
  /// no thread of the cluster can run otherwise.
  void (*await)(Block*, const void* object, bool bounded, const char* name, const char* file, int line);
  /// Call it when an object changed for which threads of the cluster may await().
  void (*change)(Block*);
  /// At the beginning of a kernel with `__cluster_dims__`. Starts the launch again if it has no clusters.
  void (*require_cluster)(Block*, Index dim);
};

/// Functions that the shared object exports: tuner_host_bind, tuner_host_context, tuner_host_guard_before and
/// tuner_host_guard_after and, if it is interleaved, tuner_host_accesses.
using Bind = int(const Api*);
using GetContext = Context*();
using GetGuard = Guard();
using GetAccesses = Accesses*();
/// One kernel: runs threads of the current block until all have been started.
using Entry = void(void* const* arguments);

struct EntryInfo {
  Entry* run;
  const unsigned* sizes;  // of the arguments, bytes
  unsigned arguments;
  const char* type;  // of the function, as std::type_info names it
};

}  // namespace tuner_host
