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
    this.region = region;
    client = new HeapQueuePair(clientView, "heap server");
    server = new HeapQueuePair(serverView, "heap client");
    client.other(server);
    server.other(client);
    clientDoorbell.add(client);
    serverDoorbell.add(server);
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
