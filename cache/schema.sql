-- Tuning results, version 2. application_id and user_version are set beside this text by cache/database.cpp.
-- Identities are text and numbers that mean something outside this file, so that files can be merged and read.

-- uuid, role (user, shipped), writer (version that created it), min_reader (oldest schema version that may read it)
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE device(
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,              -- the silicon, not its name
  name TEXT NOT NULL,
  backend TEXT NOT NULL,
  compute_capability INTEGER NOT NULL,
  sm_count INTEGER NOT NULL,
  l2_bytes INTEGER NOT NULL,
  bus_bits INTEGER NOT NULL,
  max_shared_bytes INTEGER NOT NULL,
  registers_per_sm INTEGER NOT NULL,
  properties TEXT NOT NULL) STRICT;
CREATE INDEX device_class ON device(backend, compute_capability, sm_count);

CREATE TABLE environment(
  id INTEGER PRIMARY KEY,
  driver TEXT NOT NULL, compiler TEXT NOT NULL, tuner TEXT NOT NULL, os TEXT NOT NULL,
  UNIQUE(driver, compiler, tuner, os)) STRICT;

CREATE TABLE kernel(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  source_hash TEXT NOT NULL CHECK(length(source_hash) = 64),
  objective TEXT NOT NULL,
  UNIQUE(name, objective, source_hash)) STRICT;

CREATE TABLE problem(
  id INTEGER PRIMARY KEY,
  choices TEXT NOT NULL,                 -- must match exactly
  sizes TEXT NOT NULL,                   -- `nx=4096 ny=4096`
  log2_first REAL NOT NULL,              -- log2 of the first size, -2 for 0: bounds the search for near sizes
  UNIQUE(choices, sizes)) STRICT;
CREATE INDEX problem_near ON problem(choices, log2_first);

CREATE TABLE configuration(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE session(
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  kernel_id INTEGER NOT NULL REFERENCES kernel,
  device_id INTEGER NOT NULL REFERENCES device,
  environment_id INTEGER NOT NULL REFERENCES environment,
  problem_id INTEGER NOT NULL REFERENCES problem,
  conditions TEXT NOT NULL,
  strategy TEXT NOT NULL,
  seed INTEGER NOT NULL,                 -- 64 bits, unsigned
  origin TEXT NOT NULL,
  started_ms INTEGER NOT NULL,
  finished_ms INTEGER,                   -- absent: interrupted, or still running
  crc INTEGER NOT NULL) STRICT;          -- of all but finished_ms
CREATE INDEX session_key ON session(kernel_id, device_id, problem_id);

CREATE TABLE trial(
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES session,
  seq INTEGER NOT NULL,                  -- place in the session, from 1
  configuration_id INTEGER NOT NULL REFERENCES configuration,
  kind TEXT NOT NULL CHECK(kind IN ('ok', 'compile', 'launch', 'timeout', 'wrong', 'invalid')),
  message TEXT NOT NULL,
  log TEXT NOT NULL,
  samples BLOB NOT NULL,                 -- cache/samples.hpp; empty for a failure
  median_ns REAL, low_ns REAL, high_ns REAL, relative_noise REAL,
  cold INTEGER NOT NULL, throttled INTEGER NOT NULL, converged INTEGER NOT NULL, abandoned INTEGER NOT NULL,
  verified INTEGER NOT NULL,
  clock_mhz REAL,
  metrics TEXT NOT NULL,                 -- JSON object of numbers
  times TEXT NOT NULL,                   -- JSON object of seconds
  resources TEXT,                        -- JSON object; absent when it never compiled
  created_ms INTEGER NOT NULL,
  crc INTEGER NOT NULL,
  UNIQUE(session_id, seq)) STRICT;
CREATE INDEX trial_configuration ON trial(session_id, configuration_id);

-- Only verified measurements get here (or what a reviewed wisdom text says).
CREATE TABLE best(
  id INTEGER PRIMARY KEY,
  device_id INTEGER NOT NULL REFERENCES device,
  kernel_id INTEGER NOT NULL REFERENCES kernel,
  problem_id INTEGER NOT NULL REFERENCES problem,
  environment_id INTEGER NOT NULL REFERENCES environment,
  configuration_id INTEGER NOT NULL REFERENCES configuration,
  median_ns REAL NOT NULL, low_ns REAL, high_ns REAL, relative_noise REAL,
  samples INTEGER NOT NULL,
  measured_ms INTEGER NOT NULL,
  crc INTEGER NOT NULL,                  -- of the row with everything it refers to, spelt out
  UNIQUE(device_id, kernel_id, problem_id, environment_id)) STRICT;

CREATE TABLE quarantine(
  device_key TEXT NOT NULL,
  kernel_id INTEGER NOT NULL REFERENCES kernel,
  configuration_id INTEGER NOT NULL REFERENCES configuration,
  reason TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  PRIMARY KEY(device_key, kernel_id, configuration_id)) STRICT, WITHOUT ROWID;
