#include <tuner/mpi/communicator.hpp>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include <tuner/error.hpp>

namespace tuner::mpi {
namespace {

constexpr int kTag = 1;
constexpr std::uint32_t kMagic = 0x4d524e54;  // "TNRM"

struct Header {
  std::uint32_t magic = kMagic;
  std::uint32_t kind = 0;
  std::uint64_t channel = 0;
  std::uint64_t bytes = 0;
};

}  // namespace

struct Communicator::Sending {
  MPI_Request request = MPI_REQUEST_NULL;
  std::vector<std::byte> bytes;
};

Communicator::Communicator(int& argc, char**& argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm local = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &local);
  MPI_Comm_rank(local, &local_rank_);
  MPI_Comm_free(&local);
}

Communicator::~Communicator() { MPI_Finalize(); }

void Communicator::abort() {
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

std::string Communicator::broadcast(std::string text) {
  std::uint64_t bytes = text.size();
  MPI_Bcast(&bytes, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  text.resize(bytes);
  MPI_Bcast(text.data(), static_cast<int>(bytes), MPI_CHAR, 0, MPI_COMM_WORLD);
  return text;
}

std::vector<std::string> Communicator::gather(const std::string& text) {
  const auto ranks = static_cast<std::size_t>(size_);
  const int bytes = static_cast<int>(text.size());
  std::vector<int> lengths(ranks), offsets(ranks);
  MPI_Gather(&bytes, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  int all_bytes = 0;
  for (std::size_t i = 0; i < ranks; ++i) {
    offsets[i] = all_bytes;
    all_bytes += lengths[i];
  }
  std::string all(static_cast<std::size_t>(all_bytes), '\0');
  MPI_Gatherv(text.data(), bytes, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR, 0, MPI_COMM_WORLD);
  std::vector<std::string> texts;
  if (rank_ == 0)
    for (std::size_t i = 0; i < ranks; ++i)
      texts.push_back(all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(lengths[i])));
  return texts;
}

void Communicator::send(int rank, FrameKind kind, std::uint64_t channel, std::span<const std::byte> bytes) {
  do {
    const auto part = bytes.first(std::min(bytes.size(), kMaxFrameBytes));
    bytes = bytes.subspan(part.size());
    const Header header{kMagic, static_cast<std::uint32_t>(kind), channel, part.size()};
    auto one = std::make_unique<Sending>();
    one->bytes.resize(sizeof header + part.size());
    std::memcpy(one->bytes.data(), &header, sizeof header);
    std::copy(part.begin(), part.end(), one->bytes.begin() + sizeof header);
    MPI_Isend(one->bytes.data(), static_cast<int>(one->bytes.size()), MPI_BYTE, rank, kTag, MPI_COMM_WORLD,
              &one->request);
    sending_.push_back(std::move(one));
  } while (!bytes.empty());
}

std::size_t Communicator::sending() {
  std::erase_if(sending_, [](const std::unique_ptr<Sending>& one) {
    int done = 0;
    MPI_Test(&one->request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
  return sending_.size();
}

std::optional<Frame> Communicator::receive() {
  (void)sending();
  int there = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &there, &status);
  if (there == 0) return std::nullopt;
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  MPI_Recv(bytes.data(), count, MPI_BYTE, status.MPI_SOURCE, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  Header header;
  if (bytes.size() >= sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
  if (bytes.size() < sizeof header || header.magic != kMagic || header.bytes != bytes.size() - sizeof header ||
      header.bytes > kMaxFrameBytes || header.kind > static_cast<std::uint32_t>(FrameKind::quit))
    throw Error(
        fmt::format("rank {} sent {} bytes that are not a message of tune-mpi", status.MPI_SOURCE, bytes.size()));
  bytes.erase(bytes.begin(), bytes.begin() + sizeof header);
  return Frame{status.MPI_SOURCE, static_cast<FrameKind>(header.kind), header.channel, std::move(bytes)};
}

}  // namespace tuner::mpi
