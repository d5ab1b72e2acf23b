package dev.ringfetch.fabric;

/** Two queue pairs over one region, and a doorbell for each: what a session runs on in a test. */
public final class HeapFabric {
  private final DirectRegion region;
  private final HeapQueuePair client;
  private final HeapQueuePair server;
  private final HeapDoorbell clientDoorbell = new HeapDoorbell();
  private final HeapDoorbell serverDoorbell = new HeapDoorbell();

  /** Connects two sides over a region of this length. */
  public HeapFabric(int length) {
    this(new DirectRegion(length));
  }

  /** Connects two sides over a region. */
  public HeapFabric(DirectRegion region) {
    this(region, region, region);
  }

  /** Connects two sides that reach a region through views of their own. */
  public HeapFabric(DirectRegion region, MemoryRegion clientView, MemoryRegion serverView) {
    this(
        region,
        new HeapQueuePair(clientView, "heap server"),
        new HeapQueuePair(serverView, "heap client"));
  }

  private HeapFabric(DirectRegion region, HeapQueuePair client, HeapQueuePair server) {
    this.region = region;
    this.client = client;
    this.server = server;
    client.other(server);
    server.other(client);
    clientDoorbell.add(client);
    serverDoorbell.add(server);
  }

  /**
   * Connects two sides with a card each: the region is the server's memory, which the client, with
   * memory of its own, reads and writes.
   */
  public static HeapFabric ofCards(DirectRegion region) {
    return new HeapFabric(
        region,
        new HeapCard(new DirectRegion(region.length()), region, "heap server"),
        new HeapCard(region, region, "heap client"));
  }

  /** The memory that both sides reach. */
  public DirectRegion region() {
    return region;
  }

  /** The client's side. */
  public HeapQueuePair client() {
    return client;
  }

  /** The server's side. */
  public HeapQueuePair server() {
    return server;
  }

  /** What the client's poller sleeps on. */
  public HeapDoorbell clientDoorbell() {
    return clientDoorbell;
  }

  /** What the server's poller sleeps on. */
  public HeapDoorbell serverDoorbell() {
    return serverDoorbell;
  }
}
