// Calls gRPC's test service, host:port, by all four kinds of call, from another implementation of
// gRPC. It reads no .proto file: the server's reflection says what there is.
//
// Prints one line that begins with OK and ends with 0, or says what is wrong and ends with 1.
'use strict';

const assert = require('node:assert/strict');
const grpc = require('@grpc/grpc-js');
const { GrpcReflection } = require('grpc-js-reflection-client');

const SERVICE = 'grpc.testing.TestService';
const ROUNDS = 20;
const SIZES = [31415, 9, 2653, 58979];

const deadline = () => ({ deadline: Date.now() + 20000 });

async function service(target) {
  const reflection = new GrpcReflection(target, grpc.credentials.createInsecure(), {}, 'v1');
  const descriptor = await reflection.getDescriptorBySymbol(SERVICE);
  const root = descriptor.getPackageObject({ keepCase: true, longs: Number, enums: String });
  const Client = SERVICE.split('.').reduce((scope, name) => scope[name], root);
  return new Client(target, grpc.credentials.createInsecure());
}

function unary(client, method, request) {
  return new Promise((resolve, reject) => {
    client[method](request, new grpc.Metadata(), deadline(), (error, response) =>
      error ? reject(error) : resolve(response));
  });
}

// The lengths of the payloads that a stream brings, when it has ended.
function lengths(stream) {
  return new Promise((resolve, reject) => {
    const all = [];
    stream.on('data', (response) => all.push(response.payload.body.length));
    stream.on('end', () => resolve(all));
    stream.on('error', reject);
  });
}

async function round(client) {
  await unary(client, 'EmptyCall', {});
  const large = await unary(client, 'UnaryCall',
    { response_size: 314159, payload: { body: Buffer.alloc(271828) } });
  assert.equal(large.payload.body.length, 314159);

  const parameters = SIZES.map((size) => ({ size }));
  assert.deepEqual(
    await lengths(client.StreamingOutputCall({ response_parameters: parameters }, deadline())),
    SIZES);

  const sum = await new Promise((resolve, reject) => {
    const call = client.StreamingInputCall(new grpc.Metadata(), deadline(), (error, response) =>
      error ? reject(error) : resolve(response.aggregated_payload_size));
    for (const size of SIZES) call.write({ payload: { body: Buffer.alloc(size) } });
    call.end();
  });
  assert.equal(sum, SIZES.reduce((a, b) => a + b));

  const chat = client.FullDuplexCall(new grpc.Metadata(), deadline());
  const answers = lengths(chat);
  for (const size of SIZES) {
    chat.write({ response_parameters: [{ size }], payload: { body: Buffer.alloc(size) } });
  }
  chat.end();
  assert.deepEqual(await answers, SIZES);

  await assert.rejects(
    unary(client, 'UnaryCall', { response_status: { code: 2, message: 'test status message' } }),
    { code: 2, details: 'test status message' });
  await assert.rejects(unary(client, 'UnimplementedCall', {}), { code: grpc.status.UNIMPLEMENTED });
}

async function main(target) {
  const client = await service(target);
  for (let i = 0; i < ROUNDS; i++) await round(client);
  console.log(`OK ${ROUNDS} rounds of all kinds of calls to ${target}`);
}

main(process.argv[2]).then(
  () => process.exit(0),
  (error) => {
    console.error(`interop: ${error.stack}`);
    process.exit(1);
  });
