'use strict';

const PERIOD_MS = 2000;
const CALLS = 'ringfetch_index_calls_seconds';

const byId = (id) => document.getElementById(id);
const number = (value) => Number(value || 0); // 64 bits come as text, and a zero not at all
const count = (value) => number(value).toLocaleString('en');

function bytes(value) {
  let left = number(value);
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (left >= 1024 && unit < units.length - 1) {
    left /= 1024;
    unit++;
  }
  return `${left < 10 && unit > 0 ? left.toFixed(1) : Math.round(left)} ${units[unit]}`;
}

function time(seconds) {
  if (!isFinite(seconds)) return '–';
  if (seconds < 1e-3) return `${Math.round(seconds * 1e6)} µs`;
  if (seconds < 1) return `${(seconds * 1e3).toPrecision(3)} ms`;
  return seconds < 120 ? `${seconds.toPrecision(3)} s` : `${Math.round(seconds / 60)} min`;
}

/** Fills an element with text alone: names of indexes come from anybody. */
function fill(element, tag, value) {
  const cell = document.createElement(tag);
  const {text, kind} = typeof value === 'object' ? value : {text: value, kind: ''};
  cell.textContent = text;
  if (kind) cell.className = kind;
  element.append(cell);
}

function table(id, heads, rows) {
  const body = document.createElement('tbody');
  const head = document.createElement('tr');
  // A column of numbers has its name above them.
  heads.forEach((each, i) => fill(head, 'th', {text: each, kind: rows[0]?.[i].kind === 'number' ? 'number' : ''}));
  body.append(head);
  rows.forEach((row) => {
    const line = document.createElement('tr');
    row.forEach((each) => fill(line, 'td', each));
    body.append(line);
  });
  byId(id).replaceChildren(body);
}

function list(id, pairs) {
  const element = byId(id);
  element.replaceChildren();
  pairs.forEach(([name, value]) => {
    const group = document.createElement('div');
    fill(group, 'dt', name);
    fill(group, 'dd', value);
    element.append(group);
  });
}

const right = (text) => ({text, kind: 'number'});

/** The samples of Prometheus' text of which something is shown. */
function parse(text) {
  const samples = [];
  for (const line of text.split('\n')) {
    const found = /^([a-z_]+)(?:\{(.*)\})? (\S+)/.exec(line);
    if (found === null) continue;
    const labels = {};
    for (const [, name, value] of (found[2] || '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      labels[name] = value;
    }
    samples.push({name: found[1], labels, value: Number(found[3])});
  }
  return samples;
}

const level = (samples, name) => samples.find((each) => each.name === name)?.value ?? NaN;

/** Calls by method and status. */
function callsOf(samples) {
  const calls = new Map();
  for (const {name, labels, value} of samples) {
    if (!name.startsWith(CALLS)) continue;
    const key = `${labels.method} ${labels.status}`;
    const call = calls.get(key) ||
        {method: labels.method, status: labels.status, count: 0, sum: 0, max: 0, buckets: []};
    calls.set(key, call);
    if (name === `${CALLS}_count`) call.count = value;
    if (name === `${CALLS}_sum`) call.sum = value;
    if (name === `${CALLS}_max`) call.max = value;
    if (name === `${CALLS}_bucket`) call.buckets.push([Number(labels.le.replace('+Inf', 'Infinity')), value]);
  }
  return calls;
}

/** The bound below which this part of the calls took. */
function bound(call, part) {
  const found = call.buckets.sort((a, b) => a[0] - b[0]).find(([, n]) => n >= part * call.count);
  return found && isFinite(found[0]) ? `≤ ${time(found[0])}` : '–';
}

let before = null;

function showCalls(samples) {
  const calls = callsOf(samples);
  const now = performance.now();
  const rate = (key, call) => {
    const last = before?.calls.get(key)?.count ?? 0;
    return before === null ? NaN : (call.count - last) * 1000 / (now - before.now);
  };
  table('calls', ['method', 'status', 'calls a second', 'calls', 'mean', 'p50', 'p99', 'longest'],
    [...calls].sort((a, b) => b[1].count - a[1].count).map(([key, call]) => [
      call.method,
      {text: call.status, kind: call.status === 'OK' ? 'good' : ''},
      right(isNaN(rate(key, call)) ? '–' : rate(key, call).toFixed(1)),
      right(count(call.count)),
      right(time(call.sum / call.count)),
      right(bound(call, 0.5)),
      right(bound(call, 0.99)),
      right(time(call.max)),
    ]));
  before = {calls, now};
}

function showCluster(cluster) {
  byId('cluster').hidden = !cluster?.node;
  if (!cluster?.node) return;
  const address = new Map((cluster.nodes || []).map((node) => [node.node, node.address]));
  const name = (node) => address.get(node) || `${node} (not there)`;
  table('nodes', ['address', 'node', ''], (cluster.nodes || []).map((node) =>
    [node.address, node.node, node.node === cluster.node ? 'this one' : '']));
  table('groups', ['index', 'leader', 'members', 'records they lack', 'role here', 'state'],
    (cluster.groups || []).map((group) => {
      const members = group.members || [];
      const few = members.length < number(group.replicas);
      const led = group.role === 'LEADING';
      const state = group.lost ? 'LOST' : !group.established ? 'no leader' : few ? 'short of members' : 'whole';
      return [
        group.index,
        group.leader ? name(group.leader) : 'none',
        members.map((member) => name(member.node)).join(', '),
        led ? members.filter((member) => member.node !== group.leader)
          .map((member) => `${count(member.lag)} (${member.replicatedBy || '–'})`).join(', ') : 'its leader knows',
        group.role || '–',
        {text: state, kind: state === 'whole' ? 'good' : 'bad'},
      ];
    }));
}

function showServer(state, samples) {
  const server = state.server || {};
  const journal = server.journal;
  const used = level(samples, 'ringfetch_index_memory_used_bytes');
  const limit = level(samples, 'ringfetch_index_memory_limit_bytes');
  const pairs = [
    ['index memory', {text: `${bytes(used)} of ${bytes(limit)}`, kind: used > 0.85 * limit ? 'bad' : ''}],
    ['heap', bytes(samples.filter((each) => each.name === 'jvm_memory_used_bytes' && each.labels.area === 'heap')
      .reduce((sum, each) => sum + each.value, 0))],
    ['processor', `${(100 * level(samples, 'process_cpu_usage')).toFixed(1)} % of the host`],
    ['up for', time(level(samples, 'process_uptime_seconds'))],
    ['data directory', server.dataDirectory || 'none: entries end with the process'],
  ];
  const quota = level(samples, 'ringfetch_index_data_quota_bytes');
  if (quota > 0) {
    const data = level(samples, 'ringfetch_index_data_used_bytes');
    pairs.push(['disk quota', {text: `${bytes(data)} of ${bytes(quota)}`, kind: data >= 7 / 8 * quota ? 'bad' : ''}]);
  }
  if (journal) {
    pairs.push(
      ['journal to read at a start', bytes(journal.unsnapshottedBytes)],
      ['newest snapshot', number(journal.snapshot) === 0 ? 'none' :
        `${journal.snapshot}, ${time(number(journal.snapshotAgeMs) / 1000)} old`],
      ['mean sync', time(number(journal.syncNs) / number(journal.syncs) / 1e9)],
      ['longest sync', time(number(journal.longestSyncNs) / 1e9)],
      ['oldest record that waits', time(number(journal.waitingNs) / 1e9)]);
  }
  list('server', pairs);
  const trouble = [server.writingEnded && `No durable index takes writes until a restart: ${server.writingEnded}`,
    server.obstacle && `The disk, for ${time(number(journal?.obstacleMs) / 1000)}: ${server.obstacle}`,
    journal?.snapshotObstacle && `Snapshots fail: ${journal.snapshotObstacle}`,
    state.cluster?.node && !state.cluster.coordinatorReached && 'The coordinator is not reached.',
  ].filter(Boolean);
  byId('trouble').hidden = trouble.length === 0;
  byId('trouble').textContent = trouble.join(' ');
}

function show(state, samples) {
  byId('what').textContent = state.version || '';
  byId('health').textContent = state.health || '';
  byId('health').className = state.health === 'ready' ? 'good' : 'bad';
  showServer(state, samples);
  showCluster(state.cluster);
  table('indexes', ['name', 'kind', 'durability', 'partitions', 'entries'],
    (state.indexes || []).map((index) => [
      index.name,
      (index.kind || '').toLowerCase(),
      (index.durability || '').toLowerCase().replace('_', '-'),
      right(count(index.partitions)),
      right(index.ledElsewhere ? 'its leader knows' : count(index.entries)),
    ]));
  showCalls(samples);
  table('slow', ['method', 'status', 'took', 'ended'], (state.slowCalls || []).map((call) => [
    call.method.replace(/^ringfetch\.index\.v1\./, ''),
    call.status,
    right(time(number(call.durationNs) / 1e9)),
    new Date(number(call.endedMs)).toLocaleTimeString('en', {hour12: false}),
  ]));
}

async function refresh() {
  try {
    const [state, metrics] = await Promise.all([
      fetch('state').then((answer) => answer.json()),
      fetch('metrics').then((answer) => answer.text()),
    ]);
    show(state, parse(metrics));
  } catch (e) {
    byId('health').textContent = `no answer: ${e.message}`;
    byId('health').className = 'bad';
  }
  setTimeout(refresh, PERIOD_MS);
}

refresh();
