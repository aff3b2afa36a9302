#pragma once
/// The version of tuner, and where its package is. C++17.

#define TUNER_VERSION_MAJOR 0
#define TUNER_VERSION_MINOR 1
#define TUNER_VERSION_PATCH 0

#define TUNER_TEXT_OF(number) #number
#define TUNER_VERSION_TEXT(major, minor, patch) TUNER_TEXT_OF(major) "." TUNER_TEXT_OF(minor) "." TUNER_TEXT_OF(patch)
#define TUNER_VERSION TUNER_VERSION_TEXT(TUNER_VERSION_MAJOR, TUNER_VERSION_MINOR, TUNER_VERSION_PATCH)

namespace tuner {

inline constexpr const char kVersion[] = TUNER_VERSION;

}  // namespace tuner

#ifndef TUNER_INSTALLATION_PREFIX
#define TUNER_INSTALLATION_PREFIX __FILE__ "/../../.."  // of include/tuner/version.hpp
#endif
/// Where a program's copy of tuner finds the worker and the shipped wisdom. The package may be moved: it is where these
/// headers were when the program was compiled.
extern "C" __attribute__((used, visibility("default"))) inline const char* tuner_installation_prefix() {
  return TUNER_INSTALLATION_PREFIX;
}
