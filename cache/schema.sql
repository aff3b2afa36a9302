-- Tuning results, version 3. application_id and user_version are set beside this text by cache/database.cpp.
-- Columns are named as in the wisdom text (cache/fields.hpp). Identities are text
-- and numbers that mean something outside this file, so that files can be merged and read.

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
  memory_bus_bits INTEGER NOT NULL,
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
  kernel TEXT NOT NULL,
  source TEXT NOT NULL CHECK(length(source) = 64),
  objective TEXT NOT NULL,
  UNIQUE(kernel, objective, source)) STRICT;

CREATE TABLE problem(
  id INTEGER PRIMARY KEY,
  choices TEXT NOT NULL,                 -- must match exactly
  sizes TEXT NOT NULL,                   -- `nx=4096 ny=4096`
  log2_first REAL NOT NULL,              -- log2 of the first size, -2 for 0: bounds the search for near sizes
  UNIQUE(choices, sizes)) STRICT;
CREATE INDEX problem_near ON problem(choices, log2_first);

CREATE TABLE configuration(id INTEGER PRIMARY KEY, configuration TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE session(
  id INTEGER PRIMARY KEY,
  session TEXT NOT NULL UNIQUE,          -- uuid
  kernel_id INTEGER NOT NULL REFERENCES kernel,
  device_id INTEGER NOT NULL REFERENCES device,
  environment_id INTEGER NOT NULL REFERENCES environment,
  problem_id INTEGER NOT NULL REFERENCES problem,
  conditions TEXT NOT NULL,
  strategy TEXT NOT NULL,
  seed INTEGER NOT NULL,                 -- 64 bits, unsigned
  origin TEXT NOT NULL,
  started INTEGER NOT NULL,
  finished INTEGER,                      -- absent: interrupted, or still running
  crc INTEGER NOT NULL) STRICT;          -- of all but finished, with everything it refers to, spelt out
CREATE INDEX session_key ON session(kernel_id, device_id, problem_id);

CREATE TABLE trial(
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES session,
  trial INTEGER NOT NULL,                -- place in the session, from 1
  configuration_id INTEGER NOT NULL REFERENCES configuration,
  kind TEXT NOT NULL CHECK(kind IN ('ok', 'compile', 'launch', 'timeout', 'wrong', 'invalid')),
  message TEXT NOT NULL,
  log TEXT NOT NULL,
  median_ns REAL, low_ns REAL, high_ns REAL, noise REAL,
  cold INTEGER NOT NULL, throttled INTEGER NOT NULL, converged INTEGER NOT NULL, abandoned INTEGER NOT NULL,
  verified INTEGER NOT NULL,
  clock_mhz REAL,
  metrics TEXT NOT NULL,                 -- JSON object of numbers
  times_s TEXT NOT NULL,                 -- JSON object of seconds
  resources TEXT,                        -- JSON object; absent when it never compiled
  samples_ns BLOB NOT NULL,              -- doubles; empty for a failure
  created INTEGER NOT NULL,
  crc INTEGER NOT NULL,
  UNIQUE(session_id, trial)) STRICT;
CREATE INDEX trial_configuration ON trial(session_id, configuration_id);

-- Only verified measurements get here (or what a reviewed wisdom text says).
CREATE TABLE best(
  id INTEGER PRIMARY KEY,
  device_id INTEGER NOT NULL REFERENCES device,
  kernel_id INTEGER NOT NULL REFERENCES kernel,
  problem_id INTEGER NOT NULL REFERENCES problem,
  environment_id INTEGER NOT NULL REFERENCES environment,
  configuration_id INTEGER NOT NULL REFERENCES configuration,
  median_ns REAL NOT NULL, low_ns REAL, high_ns REAL, noise REAL,
  samples INTEGER NOT NULL,
  measured INTEGER NOT NULL,
  crc INTEGER NOT NULL,
  UNIQUE(device_id, kernel_id, problem_id, environment_id)) STRICT;

-- Configurations that killed or hung the process that ran them.
CREATE TABLE quarantine(
  device_key TEXT NOT NULL,
  kernel_id INTEGER NOT NULL REFERENCES kernel,
  configuration_id INTEGER NOT NULL REFERENCES configuration,
  reason TEXT NOT NULL,
  created INTEGER NOT NULL,
  crc INTEGER NOT NULL,
  PRIMARY KEY(device_key, kernel_id, configuration_id)) STRICT, WITHOUT ROWID;
