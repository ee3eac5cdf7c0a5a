"""A vendor USB device that carries a shoe's frames: finding it, claiming it, and what its errors mean.

Everything here blocks and belongs into the one USB thread.
"""

import errno
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import usb.backend.libusb1
import usb.core
import usb.util

from drivers.errors import DeviceGoneError
from drivers.serial_address import UsbId
from drivers.usb_listing import UDEV_RULES

VENDOR_CLASS = 0xFF
_STREAM_TYPES = (usb.util.ENDPOINT_TYPE_BULK, usb.util.ENDPOINT_TYPE_INTR)

Backend = Callable[[], Any]


def libusb() -> Any:
    """Return pyusb's libusb-1.0 backend, or None if the library is not installed."""
    return usb.backend.libusb1.get_backend()


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The interface of a shoe and its two directions, as the descriptors give them."""

    interface: int
    incoming: Any
    outgoing: Any


def all_devices(backend: Backend) -> Iterator[Any]:
    """Yield every USB device of this machine."""
    found = backend()
    if found is None:
        raise DeviceGoneError(
            "USB cannot be used because libusb-1.0 is not installed: install the package libusb-1.0-0"
        )
    yield from usb.core.find(find_all=True, backend=found)


def find_device(wanted: UsbId, backend: Backend) -> Any:
    """Return the one device that is meant, or raise DeviceGoneError."""
    try:
        matching = [
            device
            for device in all_devices(backend)
            if (device.idVendor, device.idProduct) == (wanted.vid, wanted.pid)
            and (wanted.serial_number is None or serial_number(device) == wanted.serial_number)
        ]
    except usb.core.USBError as error:
        raise DeviceGoneError(usb_sentence("the USB bus", error)) from error
    if not matching:
        raise DeviceGoneError(
            f"the USB device {wanted} is not plugged in: check the cable, or see `shoe-controller devices`"
        )
    if len(matching) > 1:
        raise DeviceGoneError(
            f"{len(matching)} USB devices match {wanted}: add the serial number, as in usb-raw:VID:PID:SERIAL"
        )
    return matching[0]


def serial_number(device: Any) -> str | None:
    """Read the serial number; that needs permission to open the device."""
    if not device.iSerialNumber:
        return None
    try:
        return str(usb.util.get_string(device, device.iSerialNumber))
    except usb.core.USBError as error:
        raise DeviceGoneError(usb_sentence(device_name(device), error)) from error
    except ValueError as error:
        # pyusb's way to say that it may not open the device: "no langid (permission issue ...)".
        raise DeviceGoneError(_permission_sentence(device_name(device))) from error


def device_name(device: Any) -> str:
    """Name the device for a sentence."""
    return f"USB device {device.idVendor:04x}:{device.idProduct:04x}"


def find_endpoints(configuration: Any) -> Endpoints | None:
    """Return the first interface that has a way in and a way out, vendor-specific ones first."""
    interfaces = sorted(configuration, key=lambda interface: interface.bInterfaceClass != VENDOR_CLASS)
    for interface in interfaces:
        streams = [ep for ep in interface if usb.util.endpoint_type(ep.bmAttributes) in _STREAM_TYPES]
        incoming = [ep for ep in streams if ep.bEndpointAddress & usb.util.ENDPOINT_IN]
        outgoing = [ep for ep in streams if not ep.bEndpointAddress & usb.util.ENDPOINT_IN]
        if interface.bAlternateSetting == 0 and incoming and outgoing:
            return Endpoints(interface.bInterfaceNumber, incoming[0], outgoing[0])
    return None


class ClaimedDevice:
    """A device of which one interface is ours until `release`."""

    def __init__(self, wanted: UsbId, backend: Backend) -> None:
        self._device = find_device(wanted, backend)
        self._detached = False
        try:
            self.endpoints = self._endpoints(wanted)
            self._claim()
        except usb.core.USBError as error:
            usb.util.dispose_resources(self._device)
            raise DeviceGoneError(usb_sentence(f"the USB device {wanted}", error)) from error
        except DeviceGoneError:
            usb.util.dispose_resources(self._device)
            raise

    def clear_halt(self, endpoint: Any) -> None:
        """Take an endpoint out of its stalled state."""
        self._device.clear_halt(endpoint)

    def release(self) -> None:
        """Give the interface back, to the kernel's driver if it had it before. A device that is gone is let be."""
        interface = self.endpoints.interface
        with suppress(usb.core.USBError):
            usb.util.release_interface(self._device, interface)
        if self._detached:
            with suppress(usb.core.USBError, NotImplementedError):
                self._device.attach_kernel_driver(interface)
        usb.util.dispose_resources(self._device)

    def _endpoints(self, wanted: UsbId) -> Endpoints:
        try:
            configuration = self._device.get_active_configuration()
        except usb.core.USBError as error:
            if error.errno in (errno.EACCES, errno.ENODEV):
                raise
            # Not configured yet: the first configuration is the only one that a shoe has.
            self._device.set_configuration()
            configuration = self._device.get_active_configuration()
        endpoints = find_endpoints(configuration)
        if endpoints is None:
            raise DeviceGoneError(
                f"the USB device {wanted} has no pair of bulk or interrupt endpoints: it is not a shoe"
                " (if it is a serial adapter, write usb: instead of usb-raw:)"
            )
        return endpoints

    def _claim(self) -> None:
        interface = self.endpoints.interface
        with suppress(NotImplementedError):  # backends without kernel drivers
            if self._device.is_kernel_driver_active(interface):
                self._device.detach_kernel_driver(interface)
                self._detached = True
        usb.util.claim_interface(self._device, interface)


def usb_sentence(name: str, error: OSError) -> str:
    """Say what a USB error means for a technician."""
    if error.errno in (errno.EACCES, errno.EPERM):
        return _permission_sentence(name)
    if error.errno == errno.EBUSY:
        return f"{name} is in use by another program: stop it"
    if error.errno in (errno.ENODEV, errno.ENOENT, errno.ESHUTDOWN):
        return f"{name} was unplugged: check cable and power of the shoe"
    return f"{name} failed ({error})"


def _permission_sentence(name: str) -> str:
    return (
        f"no permission to use {name}: install {UDEV_RULES} in /etc/udev/rules.d, run `udevadm control --reload`"
        " and plug the shoe in again"
    )
