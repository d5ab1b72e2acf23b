package dev.ringfetch.session;

/** What a client that fetches has beside its session. */
final class RemoteSide {
  private RemoteSide() {}

  /** Whether a client fetches or has its answers pushed; null where that is given. */
  static ReplyChoice choice(Session client) {
    return client.carrier instanceof FetchingCarrier ? carrier(client).choice() : null;
  }

  /** When a client should send. */
  static ClientTurn turn(Session client) {
    return carrier(client).turn();
  }

  private static FetchingCarrier carrier(Session client) {
    return (FetchingCarrier) client.carrier;
  }
}
