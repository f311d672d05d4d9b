// Leaves a server that hangs: one that answers nothing for two seconds gets no new calls until it answers again. Asked is
// each connection, once in half a second, for a method that nobody serves: every answer is one, whatever it says, so that
// no refusal of ours counts against a server. The keepalive of grpc-js would drop calls where a connection ends
// (decision 0028), and its outlier detection counts refusals (decision 0029).
import { type ChannelOptions, connectivityState, experimental, Metadata } from '@grpc/grpc-js';

const { BaseSubchannelWrapper, ChildLoadBalancerHandler, createChildChannelControlHelper } = experimental;

/** Spreads calls over the addresses as `round_robin` does. */
export const liveRoundRobin = 'course_exchange_live_round_robin';

/** Between two questions, in milliseconds. */
export const questionPause = 500;
/** Pauses without an answer. As it counts pauses, a process that stood still itself blames nobody. */
export const maxUnanswered = 4;

/** What is known of one address, also when its subchannel is made anew, as it is whenever the name is resolved. */
class Address {
  readonly subchannels = new Set<WatchedSubchannel>();
  #asked = false;
  #unanswered = 0;
  #isLeft = false;

  get isReady(): boolean {
    return [...this.subchannels].some((one) => one.getConnectivityState() === connectivityState.READY);
  }

  get isSilent(): boolean {
    return this.#unanswered >= maxUnanswered;
  }

  get isLeft(): boolean {
    return this.#isLeft;
  }

  set isLeft(isLeft: boolean) {
    this.#isLeft = isLeft;
    for (const subchannel of this.subchannels) subchannel.setHealthy(!isLeft);
  }

  ask(): void {
    if (this.#asked) {
      this.#unanswered += 1;
      return;
    }
    const [subchannel] = this.subchannels;
    if (subchannel === undefined || !this.isReady) return;
    this.#asked = true;
    const call = subchannel
      .getChannel()
      .createCall('/grpc.health.v1.Health/Check', Infinity, null, null, null);
    call.start(new Metadata(), {
      onReceiveMetadata: () => {},
      onReceiveMessage: () => {},
      onReceiveStatus: () => {
        this.#asked = false;
        this.#unanswered = 0;
      },
    });
    call.startRead();
    call.halfClose();
  }
}

class WatchedSubchannel extends BaseSubchannelWrapper {
  readonly #address: Address;

  constructor(child: experimental.SubchannelInterface, address: Address) {
    super(child);
    this.#address = address;
    address.subchannels.add(this);
    this.setHealthy(!address.isLeft);
  }

  override setHealthy(healthy: boolean): void {
    super.setHealthy(healthy);
  }

  protected override destroy(): void {
    super.destroy();
    this.#address.subchannels.delete(this);
  }
}

class LiveRoundRobin extends ChildLoadBalancerHandler {
  readonly #addresses = new Map<string, Address>();
  readonly #helper: experimental.ChannelControlHelper;
  readonly #asking = setInterval(() => this.#ask(), questionPause).unref();

  constructor(helper: experimental.ChannelControlHelper) {
    super(
      createChildChannelControlHelper(helper, {
        createSubchannel: (to, args) => this.#watched(helper.createSubchannel(to, args)),
      }),
    );
    this.#helper = helper;
  }

  #watched(subchannel: experimental.SubchannelInterface): WatchedSubchannel {
    const name = subchannel.getAddress();
    const address = this.#addresses.get(name) ?? new Address();
    this.#addresses.set(name, address);
    return new WatchedSubchannel(subchannel, address);
  }

  #ask(): void {
    for (const [name, address] of this.#addresses)
      if (address.subchannels.size === 0) this.#addresses.delete(name);
      else address.ask();
    const addresses = [...this.#addresses.values()];
    // Without another one a server that may hang is better than none.
    const hasOther = addresses.some(({ isReady, isSilent }) => isReady && !isSilent);
    for (const address of addresses) address.isLeft = address.isSilent && hasOther;
    // A machine that is gone closes no connection, and what takes its place has another address.
    if (addresses.some(({ isSilent }) => isSilent)) this.#helper.requestReresolution();
  }

  override updateAddressList(
    endpoints: Parameters<experimental.LoadBalancer['updateAddressList']>[0],
    _config: experimental.TypedLoadBalancingConfig,
    options: ChannelOptions,
    note: string,
  ): boolean {
    const roundRobin = experimental.parseLoadBalancingConfig({ round_robin: {} });
    return super.updateAddressList(endpoints, roundRobin, options, note);
  }

  override destroy(): void {
    clearInterval(this.#asking);
    super.destroy();
  }

  override getTypeName(): string {
    return liveRoundRobin;
  }
}

class Config {
  static createFromJson(): Config {
    return new Config();
  }

  getLoadBalancerName(): string {
    return liveRoundRobin;
  }

  toJsonObject(): object {
    return { [liveRoundRobin]: {} };
  }
}

experimental.registerLoadBalancerType(liveRoundRobin, LiveRoundRobin, Config);
