// A grid that greets, and launches one of half as many threads that greets, and so on: the textbook's first program of
// dynamic parallelism. `tune run --kernel nestedHello --once` shows what it prints.
//
// Source: J. Cheng, M. Grossman, T. McKercher, "Professional CUDA C Programming" (2014), chapter 3, section "Nested
// Hello World on the GPU", and exercises 8 (`parents=first_block`) and 9 (`--size deepest=2`). Written anew, with
// two changes. A child goes into its parent's tail stream (Programming Guide, "The Tail Launch Stream"), so that it
// greets after its parent has ended. Blocks that no launch connects greet in any order. And greetings are counted by
// depth, which shows a lost launch.

#pragma tuner kernel      nestedHello
#pragma tuner choice      greetings = printed silent
#pragma tuner size        blocks : int = 1                    // of the first grid
#pragma tuner size        threads : int = 8                   // of a block of the first grid
#pragma tuner size        elements : int = 8                  // half as many threads has a block of the next grid
#pragma tuner size        deepest : int = 10                  // no launches below this depth; the first grid's is 0
#pragma tuner parameter   parents = every_block first_block   // whose first thread launches
#pragma tuner device_launches blocks * 11
#pragma tuner out         greeted[11] : unsigned              // by depth: 1024 threads are halved ten times

#pragma tuner launch      clear
#pragma tuner grid        1
#pragma tuner block       32
#pragma tuner arguments   greeted
#pragma tuner instantiate clearGreetings

#pragma tuner launch      greet
#pragma tuner grid        max(1, blocks)
#pragma tuner block       max(1, threads)
#pragma tuner arguments   blocks, threads, elements, deepest, greeted
#pragma tuner instantiate nestedHello<Parents::parents, Greetings::greetings>

#pragma tuner reference   countGreetings
#pragma tuner grid        1
#pragma tuner block       32
#pragma tuner arguments   blocks, threads, elements, deepest, greeted
#pragma tuner verify      blocks=0 threads=0 elements=0 deepest=0
#pragma tuner verify      blocks=1 threads=1 elements=1 deepest=1
#pragma tuner verify      blocks=3 threads=7 elements=7 deepest=9 offset=1
#pragma tuner verify      blocks=2 threads=1000 elements=1000 deepest=3
#pragma tuner verify      blocks=32 threads=2 elements=64 deepest=10
#pragma tuner default     parents=every_block

#if !defined(__CUDACC_RTC__)
#include <cstdio>
#endif

enum class Parents {
  every_block,  // each launches one block for half of its threads
  first_block,  // of each grid; its child has half the threads of the whole grid
};

enum class Greetings { printed, silent };

constexpr int kDepths = 11;

template <Parents parents, Greetings greetings>
__global__ void greetDeeper(int blocks, int elements, int depth, int deepest, unsigned* greeted);

// The work of a thread of depth `depth`. `threads`: of each block of the first grid that greet at this depth. `elements`:
// what is halved for the next one.
template <Parents parents, Greetings greetings>
__device__ void greet(int blocks, int threads, int elements, int depth, int deepest, unsigned* greeted) {
  const int here = parents == Parents::every_block ? threadIdx.x : blockIdx.x * blockDim.x + threadIdx.x;
  // Of a grid for several blocks' worth of threads the last block may have too many.
  if (here >= (parents == Parents::every_block ? threads : threads * blocks)) return;
  atomicAdd(&greeted[depth], 1u);
  if constexpr (greetings == Greetings::printed)
    printf("depth %d: hello from thread %d of block %d\n", depth, int(threadIdx.x), int(blockIdx.x));

  const int half = elements / 2;
  const bool launches = parents == Parents::every_block ? threadIdx.x == 0 : here == 0;
  if (!launches || half == 0 || depth >= deepest) return;
  if constexpr (greetings == Greetings::printed)
    printf("-----> block %d launches depth %d\n", int(blockIdx.x), depth + 1);
#if defined(__CUDACC__)
  const unsigned size = parents == Parents::every_block ? half : blockDim.x;
  const unsigned grid = parents == Parents::every_block ? 1 : (half * blocks + size - 1) / size;
  greetDeeper<parents, greetings><<<grid, size, 0, cudaStreamTailLaunch>>>(blocks, half, depth + 1, deepest, greeted);
#endif
}

template <Parents parents, Greetings greetings>
__global__ void greetDeeper(int blocks, int elements, int depth, int deepest, unsigned* greeted) {
  greet<parents, greetings>(blocks, elements, elements, depth, deepest, greeted);
}

template <Parents parents, Greetings greetings>
__global__ void nestedHello(int blocks, int threads, int elements, int deepest, unsigned* greeted) {
  if (blocks > 0) greet<parents, greetings>(blocks, threads, elements, 0, deepest, greeted);
}

__global__ void clearGreetings(unsigned* greeted) {
  if (threadIdx.x < kDepths) greeted[threadIdx.x] = 0;
}

__global__ void countGreetings(int blocks, int threads, int elements, int deepest, unsigned* greeted) {
  const int depth = threadIdx.x;
  if (depth >= kDepths) return;
  const int of_block = depth == 0 ? threads : elements >> depth;
  greeted[depth] = depth <= deepest && threads > 0 ? blocks * of_block : 0;
}
