package dev.ringfetch.index.replication;

/**
 * What a core takes for the steps of a replicated put, in nanoseconds, without posting.
 *
 * @param requestNs a client's request, from its arrival to the answer: dispatch, handler, append
 * @param sendNs a leader's message to a member
 * @param serveNs a member: a message, from its arrival to the answer
 * @param answerNs a leader: a member's answer
 * @param lookNs a leader: a cycle that takes results of looks
 * @param recordNs a member: a record, however it came: checksum and copy
 */
record ProcessorTimes(
    double requestNs,
    double sendNs,
    double serveNs,
    double answerNs,
    double lookNs,
    double recordNs) {
  /**
   * RAMCloud's, on which Tailwind was built. "The RAMCloud Storage System" (TOCS 33:3, 2015,
   * abstract) has reads of small objects in less than 5 us, and durable writes in 13.5 us. The
   * steps are not published there. They are set so that over {@link CardRates#CONNECT_X3} and on
   * idle nodes a request that is not replicated takes 5 us, and one that is replicated by messages
   * 13.5: 2 us of a server for a request or a message, 1 us of a leader for each message and for
   * each answer. Results of looks, and records, are assumed. Members apply nothing, as RAMCloud's
   * backups: Ringfetch's do, either way alike.
   */
  static final ProcessorTimes RAMCLOUD = new ProcessorTimes(2_000, 1_000, 2_000, 1_000, 200, 100);
}
