"""A simulated USB bus: what libusb would tell pyusb about shoes that are not there.

It answers as libusb 1.0 on Linux does: descriptors, strings over the control pipe, packets, time-outs that block
for as long as they say, EBUSY for an interface that somebody else has, errno 19 from the moment of an unplug.
"""

# The methods of the bus, their arguments and what they must answer are pyusb's, described at usb.backend.IBackend.
# ruff: noqa: D102, ARG002

import array
import errno
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import usb.backend
import usb.core
import usb.util

ENGLISH = 0x0409
_LIBUSB_CODE = {
    errno.EIO: -1,
    errno.EACCES: -3,
    errno.ENODEV: -4,
    errno.ENOENT: -5,
    errno.EBUSY: -6,
    errno.EOVERFLOW: -8,
    errno.EPIPE: -9,
}


def usb_error(number: int, text: str) -> usb.core.USBError:
    """Return the error as pyusb's libusb backend raises it."""
    return usb.core.USBError(text, _LIBUSB_CODE[number], number)


@dataclass(frozen=True, slots=True)
class SimulatedEndpoint:
    """One endpoint of an interface: address (bit 7 = into the host), 2 bulk or 3 interrupt, packet size."""

    address: int
    kind: int = usb.util.ENDPOINT_TYPE_BULK
    packet: int = 64


@dataclass(frozen=True, slots=True)
class SimulatedInterface:
    """One interface with its endpoints."""

    endpoints: tuple[SimulatedEndpoint, ...]
    usb_class: int = 0xFF


SHOE_INTERFACE = SimulatedInterface((SimulatedEndpoint(0x81), SimulatedEndpoint(0x02)))


class SimulatedUsbShoe:
    """One device. `on_data` is called, in the host's USB thread, with what the host wrote."""

    def __init__(
        self,
        vid: int = 0x1209,
        pid: int = 0x5A0E,
        serial_number: str | None = "SIM-1",
        *,
        interfaces: tuple[SimulatedInterface, ...] = (SHOE_INTERFACE,),
        on_data: Callable[[bytes], None] = lambda _: None,
        kernel_driver: bool = False,
        permitted: bool = True,
        configured: bool = True,
    ) -> None:
        self.vid = vid
        self.pid = pid
        self.strings = {1: "Simulated", 2: "Card shoe"} | ({3: serial_number} if serial_number else {})
        self.interfaces = interfaces
        self.on_data = on_data
        self.kernel_driver = kernel_driver
        self.permitted = permitted
        self.configuration = 1 if configured else 0
        self.claimed: set[int] = set()
        self.plugged = True
        self.stalled = 0  # reads that will fail with a stall
        self.deaf = False  # takes no data: writes time out
        self.takes = 1 << 20  # bytes that one write takes before its time is over
        self._packets: deque[bytes] = deque()
        self._changed = threading.Condition()

    def send(self, data: bytes) -> None:
        """Put bytes on the incoming endpoint, in packets. Without a cable they are lost."""
        size = self.incoming.packet
        with self._changed:
            if self.plugged:
                self._packets += (data[start : start + size] for start in range(0, len(data), size))
                self._changed.notify_all()

    def unplug(self) -> None:
        """Pull the cable: packets that were not read are lost, a read that waits ends with errno 19."""
        with self._changed:
            self.plugged = False
            self.claimed.clear()
            self._packets.clear()
            self._changed.notify_all()

    def plug(self) -> None:
        """Put the cable back."""
        with self._changed:
            self.plugged = True

    @property
    def incoming(self) -> SimulatedEndpoint:
        """The first endpoint into the host."""
        return next(ep for interface in self.interfaces for ep in interface.endpoints if ep.address & 0x80)

    def read(self, room: int, timeout_ms: int) -> bytes:
        """Read as libusb does: whole packets until the buffer is full or a short one ends the transfer."""
        with self._changed:
            self._changed.wait_for(lambda: self._packets or not self.plugged or self.stalled, timeout_ms / 1000)
            self.check_plugged()
            if self.stalled:
                self.stalled -= 1
                raise usb_error(errno.EPIPE, "Pipe error")
            if not self._packets:
                raise usb.core.USBTimeoutError("Operation timed out", -7, errno.ETIMEDOUT)
            data = b""
            while self._packets and len(data) < room:
                packet = self._packets.popleft()
                if len(data) + len(packet) > room:
                    raise usb_error(errno.EOVERFLOW, "Overflow")
                data += packet
                if len(packet) < self.incoming.packet:
                    break
            return data

    def check_plugged(self) -> None:
        """Raise what every call gives on a device that is gone."""
        if not self.plugged:
            raise usb_error(errno.ENODEV, "No such device (it may have been disconnected)")


class _Handle:
    """An open device; it dies with the unplug, and a device that is plugged in again needs a new one."""

    def __init__(self, shoe: SimulatedUsbShoe) -> None:
        self.shoe = shoe
        self.claims = shoe.claimed


class SimulatedUsbBus(usb.backend.IBackend):  # type: ignore[misc]  # pyusb has no types
    """pyusb's view of the bus. Pass `lambda: bus` where a backend is asked for."""

    def __init__(self, *shoes: SimulatedUsbShoe) -> None:
        self.shoes = list(shoes)

    def enumerate_devices(self) -> Iterator[SimulatedUsbShoe]:
        yield from [shoe for shoe in self.shoes if shoe.plugged]

    def get_device_descriptor(self, dev: SimulatedUsbShoe) -> Any:
        return SimpleNamespace(
            bLength=18,
            bDescriptorType=1,
            bcdUSB=0x0200,
            bDeviceClass=0,
            bDeviceSubClass=0,
            bDeviceProtocol=0,
            bMaxPacketSize0=64,
            idVendor=dev.vid,
            idProduct=dev.pid,
            bcdDevice=0x0100,
            iManufacturer=1,
            iProduct=2,
            iSerialNumber=3 if 3 in dev.strings else 0,
            bNumConfigurations=1,
            address=self.shoes.index(dev) + 1,
            bus=1,
            port_number=1,
            port_numbers=(1,),
            speed=2,
        )

    def get_configuration_descriptor(self, dev: SimulatedUsbShoe, config: int) -> Any:
        if config:
            raise IndexError(f"invalid configuration index {config}")
        return SimpleNamespace(
            bLength=9,
            bDescriptorType=2,
            wTotalLength=0,
            bNumInterfaces=len(dev.interfaces),
            bConfigurationValue=1,
            iConfiguration=0,
            bmAttributes=0x80,
            bMaxPower=50,
            extra_descriptors=b"",
        )

    def get_interface_descriptor(self, dev: SimulatedUsbShoe, intf: int, alt: int, config: int) -> Any:
        if intf >= len(dev.interfaces) or alt or config:
            raise IndexError(f"invalid interface {intf}, alternate setting {alt}")
        interface = dev.interfaces[intf]
        return SimpleNamespace(
            bLength=9,
            bDescriptorType=4,
            bInterfaceNumber=intf,
            bAlternateSetting=alt,
            bNumEndpoints=len(interface.endpoints),
            bInterfaceClass=interface.usb_class,
            bInterfaceSubClass=0,
            bInterfaceProtocol=0,
            iInterface=0,
            extra_descriptors=b"",
        )

    def get_endpoint_descriptor(self, dev: SimulatedUsbShoe, ep: int, intf: int, alt: int, config: int) -> Any:
        endpoint = dev.interfaces[intf].endpoints[ep]
        return SimpleNamespace(
            bLength=7,
            bDescriptorType=5,
            bEndpointAddress=endpoint.address,
            bmAttributes=endpoint.kind,
            wMaxPacketSize=endpoint.packet,
            bInterval=1,
            bRefresh=0,
            bSynchAddress=0,
            extra_descriptors=b"",
        )

    def open_device(self, dev: SimulatedUsbShoe) -> _Handle:
        dev.check_plugged()
        if not dev.permitted:
            raise usb_error(errno.EACCES, "Access denied (insufficient permissions)")
        return _Handle(dev)

    def close_device(self, dev_handle: _Handle) -> None:
        dev_handle.claims = set()

    def set_configuration(self, dev_handle: _Handle, config_value: int) -> None:
        dev_handle.shoe.check_plugged()
        dev_handle.shoe.configuration = config_value

    def get_configuration(self, dev_handle: _Handle) -> int:
        dev_handle.shoe.check_plugged()
        return dev_handle.shoe.configuration

    def claim_interface(self, dev_handle: _Handle, intf: int) -> None:
        dev_handle.shoe.check_plugged()
        if intf in dev_handle.shoe.claimed or dev_handle.shoe.kernel_driver:
            raise usb_error(errno.EBUSY, "Resource busy")
        dev_handle.shoe.claimed.add(intf)

    def release_interface(self, dev_handle: _Handle, intf: int) -> None:
        dev_handle.shoe.check_plugged()
        dev_handle.shoe.claimed.discard(intf)

    def bulk_write(self, dev_handle: _Handle, ep: int, intf: int, data: Any, timeout: int) -> int:
        return self._write(dev_handle, intf, data)

    def intr_write(self, dev_handle: _Handle, ep: int, intf: int, data: Any, timeout: int) -> int:
        return self._write(dev_handle, intf, data)

    def bulk_read(self, dev_handle: _Handle, ep: int, intf: int, buff: Any, timeout: int) -> int:
        return self._read(dev_handle, intf, buff, timeout)

    def intr_read(self, dev_handle: _Handle, ep: int, intf: int, buff: Any, timeout: int) -> int:
        return self._read(dev_handle, intf, buff, timeout)

    def ctrl_transfer(
        self,
        dev_handle: _Handle,
        bmRequestType: int,  # noqa: N803
        bRequest: int,  # noqa: N803
        wValue: int,  # noqa: N803
        wIndex: int,  # noqa: N803
        data: Any,
        timeout: int,
    ) -> int:
        dev_handle.shoe.check_plugged()
        kind, index = divmod(wValue, 256)
        if (bRequest, kind) != (6, 3):
            raise usb_error(errno.EPIPE, "Pipe error")
        text = ENGLISH.to_bytes(2, "little") if index == 0 else dev_handle.shoe.strings[index].encode("utf-16-le")
        answer = array.array("B", bytes((len(text) + 2, 3)) + text)[: len(data)]
        data[: len(answer)] = answer
        return len(answer)

    def clear_halt(self, dev_handle: _Handle, ep: int) -> None:
        dev_handle.shoe.check_plugged()

    def is_kernel_driver_active(self, dev_handle: _Handle, intf: int) -> bool:
        dev_handle.shoe.check_plugged()
        return dev_handle.shoe.kernel_driver

    def detach_kernel_driver(self, dev_handle: _Handle, intf: int) -> None:
        dev_handle.shoe.check_plugged()
        dev_handle.shoe.kernel_driver = False

    def attach_kernel_driver(self, dev_handle: _Handle, intf: int) -> None:
        dev_handle.shoe.check_plugged()
        dev_handle.shoe.kernel_driver = True

    @staticmethod
    def _write(handle: _Handle, intf: int, data: Any) -> int:
        _check_claim(handle, intf)
        if handle.shoe.deaf:
            raise usb.core.USBTimeoutError("Operation timed out", -7, errno.ETIMEDOUT)
        taken = bytes(data)[: handle.shoe.takes]
        handle.shoe.on_data(taken)
        return len(taken)

    @staticmethod
    def _read(handle: _Handle, intf: int, buff: Any, timeout: int) -> int:
        _check_claim(handle, intf)
        data = handle.shoe.read(len(buff), timeout)
        buff[: len(data)] = array.array("B", data)
        return len(data)


def _check_claim(handle: _Handle, intf: int) -> None:
    handle.shoe.check_plugged()
    if intf not in handle.claims:
        # A handle from before the unplug: the device that is there now is another one.
        raise usb_error(errno.ENODEV, "No such device (it may have been disconnected)")
