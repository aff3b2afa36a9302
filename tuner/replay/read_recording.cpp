#include <tuner/replay/read_recording.hpp>

#include <cache/disk.hpp>

namespace tuner::replay {

namespace {

std::string without_endings(const std::string& origin) {
  std::string stem = std::filesystem::path(origin).filename().string();
  for (const std::string_view ending : {".gz", ".csv", ".json", ".jsonl"})
    if (stem.size() > ending.size() && stem.ends_with(ending)) stem.resize(stem.size() - ending.size());
  return stem;
}

/// Whether \p text was written by `tune db export`.
bool is_exported(std::string_view text) {
  while (text.starts_with('#')) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text.starts_with("{\"tuner_wisdom\"");
}

}  // namespace

std::vector<Recording> read_recordings(const std::filesystem::path& path, const Warn& warn) try {
  if (cache::is_database_file(path)) return read_database(path, warn);
  return parse_recordings(cache::read_text(path), path.string(), warn);
} catch (const cache::CacheError& error) {
  throw RecordingError(error.what());
}

std::vector<Recording> parse_recordings(std::string_view text, const std::string& origin, const Warn& warn) {
  if (cache::is_database(text)) throw RecordingError(origin + ": a compressed database: gunzip it first");
  if (is_exported(text)) return parse_exported(text, origin, warn);
  std::vector<Recording> out;
  out.push_back(parse_recording(text, origin));
  return out;
}

Recording parse_recording(std::string_view text, const std::string& origin) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos) throw RecordingError(origin + ": the file is empty");
  Recording out = text[first] == '{' ? parse_json(text, origin) : parse_csv(text, origin);
  out.name = without_endings(origin);
  return out;
}

}  // namespace tuner::replay
