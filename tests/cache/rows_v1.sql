-- A few results in the form of version 1, for the test of the migration.
INSERT INTO meta VALUES('db_uuid', '00'), ('role', 'user'), ('writer_version', '1'), ('min_reader', '1');
INSERT INTO device VALUES(1, zeroblob(16), 'NVIDIA H200', 90, 132, 62914560, 6144, '{"smem_optin":232448,"regs_sm":65536}');
INSERT INTO env VALUES(1, x'01', '13.0', '13.0', '0.0.1', 'Debian 12');
INSERT INTO kernel VALUES(1, 'reduce', x'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'time_ns');
INSERT INTO space VALUES(1, 1, x'01', '{}');
INSERT INTO config VALUES(1, 1, x'01', '{"vector":true,"block":256,"step":"shuffle"}'), (2, 1, x'02', '{"block":512}'),
                         (3, 1, x'03', '{"block":1024}');
INSERT INTO problem VALUES(1, 1, x'01', '{"operation":"sum","T":"float"}', '{"n":1048576}', 20, NULL, NULL, NULL);
INSERT INTO session VALUES(1, x'0102', 1, 1, 1, 'random', 42, 1700000000000, NULL, '{"cold":true}', 'test');
INSERT INTO measurement VALUES
  (1, 1, 1, 'ok', 2, 990, 1000, 1000, 5, x'0000803f00000040', 1, 32, 1024, 250000, 1700000000001),
  (1, 1, 2, 'compile', 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, 1700000000002),
  (1, 1, 3, 'noisy', 2, 1990, 2000, 2000, 500, NULL, 1, 40, 0, 250000, 1700000000003);
INSERT INTO best VALUES(1, 1, 1, 1, 1000, 2, 1, 0);
INSERT INTO quarantine VALUES(1, 1, 3, 'illegal address', 1700000000004);
