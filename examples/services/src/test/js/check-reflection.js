// Asks an index server what it serves, through gRPC server reflection alone, and uses what it says:
// no .proto file is read, but for the names that reflection has to give. This is what grpcurl does,
// from another implementation of gRPC.
//
//   examples/run check-reflection               starts a server, asks it, ends it
//   examples/run check-reflection localhost:N   asks one that is up (examples/run quickstart --keep)
//
// Prints one line that begins with OK and ends with 0, or says what is wrong and ends with 1.
// The `check` script beside it installs the packages that package.json names, in a folder that it
// deletes.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const grpc = require('@grpc/grpc-js');
const { GrpcReflection } = require('grpc-js-reflection-client');

const DEADLINE_MS = 10000;
const SERVICES = [
  'grpc.health.v1.Health',
  'grpc.reflection.v1.ServerReflection',
  'ringfetch.index.v1.DirectAccess',
  'ringfetch.index.v1.Index',
  'ringfetch.index.v1.IndexAdmin',
];

function call(client, method, request) {
  return new Promise((resolve, reject) => {
    client[method](request, { deadline: Date.now() + DEADLINE_MS }, (error, response) =>
      error ? reject(error) : resolve(response));
  });
}

async function client(reflection, target, service) {
  const descriptor = await reflection.getDescriptorBySymbol(service);
  const root = descriptor.getPackageObject({ keepCase: true, longs: Number, enums: String });
  const Client = service.split('.').reduce((scope, name) => scope[name], root);
  return new Client(target, grpc.credentials.createInsecure());
}

async function checkIndex(index) {
  const key = Buffer.from('check-reflection/key');
  const value = Buffer.from([0, 1, 2, 253, 254, 255]);
  const put = await call(index, 'Put', { key, value });
  assert.ok(put.version > 0, 'a version');
  const { entry } = await call(index, 'Get', { key });
  assert.deepEqual(entry.key, key);
  assert.deepEqual(entry.value, value);
  assert.equal(entry.version, put.version);
  assert.equal((await call(index, 'Count', {})).entries, 1);
  const batch = await call(index, 'BatchGet', { keys: [Buffer.from('absent'), key] });
  assert.equal(batch.answers.length, 2);
  assert.ok(!batch.answers[0].entry, 'absence is an answer');
  assert.deepEqual(batch.answers[1].entry.value, value);
  assert.equal((await call(index, 'Delete', { key })).existed, true);
  assert.ok(!(await call(index, 'Get', { key })).entry, 'deleted');
  await assert.rejects(
    call(index, 'Get', { key: Buffer.alloc(2000) }),
    { code: grpc.status.INVALID_ARGUMENT });
}

async function main(target) {
  const reflection = new GrpcReflection(
    target, grpc.credentials.createInsecure(), {}, 'v1');
  const services = (await reflection.listServices('*')).sort();
  for (const service of SERVICES) {
    assert.ok(services.includes(service), `${service} is not in ${services}`);
  }
  assert.ok(!services.some((service) => service.startsWith('ringfetch.v1.')),
    `the session service is internal, yet listed: ${services}`);
  const methods = (await reflection.listMethods('ringfetch.index.v1.Index'))
    .map((method) => method.name).sort();
  const declared = fs.readFileSync(process.argv[3], 'utf8').match(/^service Index \{.*?^\}/ms)[0];
  const names = [...declared.matchAll(/^  rpc (\w+)\(/gm)].map((rpc) => rpc[1]).sort();
  assert.deepEqual(methods, names);
  const health = await client(reflection, target, 'grpc.health.v1.Health');
  assert.equal((await call(health, 'Check', {})).status, 'SERVING');
  const index = await client(reflection, target, 'ringfetch.index.v1.Index');
  await checkIndex(index);
  console.log(`OK ${target} serves ${services.join(', ')}; Index has ${methods.join(', ')}`);
}

main(process.argv[2]).then(
  () => process.exit(0),
  (error) => {
    console.error(`check-reflection: ${error.stack}`);
    process.exit(1);
  });
