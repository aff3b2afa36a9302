// A fake NVML for one card, whose energy counter moves by 1 J at each reading. $TUNER_FAKE_NVML_RESULT: the result of
// reading the counter.
#include <cstdlib>

extern "C" {

__attribute__((visibility("default"))) int nvmlInit_v2() { return 0; }
__attribute__((visibility("default"))) const char* nvmlErrorString(int) { return "a made-up failure"; }
__attribute__((visibility("default"))) int nvmlDeviceGetHandleByPciBusId_v2(const char* pci, void** device) {
  *device = nullptr;
  return pci[0] == '0' ? 0 : 6;
}
__attribute__((visibility("default"))) int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* energy) {
  static unsigned long long millijoules = 5000;
  *energy = millijoules += 1000;
  const char* const result = std::getenv("TUNER_FAKE_NVML_RESULT");
  return result != nullptr ? std::atoi(result) : 0;
}
}
