//! What the firmware's tables (DMI, SMBIOS) tell of a machine: the cloud that it is part of, and the kind of its case.

/// Texts of the tables as /sys/class/dmi/id names them; empty where a table has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tables<'t> {
    /// `sys_vendor`.
    pub vendor: &'t str,
    /// `product_name`.
    pub product: &'t str,
    /// `bios_vendor`.
    pub bios: &'t str,
    /// `bios_version`.
    pub bios_version: &'t str,
    /// `chassis_asset_tag`.
    pub tag: &'t str,
}

#[derive(Clone, Copy)]
enum Field {
    Vendor,
    Product,
    Bios,
    Tag,
}

/// A table, how its text begins, and the word of the cloud: as `ds-identify` of cloud-init knows them.
const CLOUDS: [(Field, &str, &str); 23] = [
    (Field::Vendor, "Amazon EC2", "aws"),
    (Field::Bios, "Amazon EC2", "aws"),
    (Field::Tag, "Amazon EC2", "aws"),
    (Field::Tag, "7783-7084-3265-9085-8269-3286-77", "azure"),
    (Field::Product, "Google Compute Engine", "gcp"),
    (Field::Tag, "OracleCloud.com", "oracle"),
    (Field::Product, "Alibaba Cloud", "alibaba"),
    (Field::Vendor, "Alibaba Cloud", "alibaba"),
    (Field::Tag, "ibmcloud", "ibm"),
    (Field::Vendor, "Tencent Cloud", "tencent"),
    (Field::Vendor, "Huawei Cloud", "huawei"),
    (Field::Tag, "HUAWEICLOUD", "huawei"),
    (Field::Vendor, "DigitalOcean", "digitalocean"),
    (Field::Vendor, "Hetzner", "hetzner"),
    (Field::Vendor, "Vultr", "vultr"),
    (Field::Vendor, "Scaleway", "scaleway"),
    (Field::Vendor, "Linode", "linode"),
    (Field::Vendor, "Akamai", "linode"),
    (Field::Vendor, "UpCloud", "upcloud"),
    (Field::Vendor, "Yandex", "yandex"),
    (Field::Product, "Exoscale", "exoscale"),
    (Field::Product, "OpenStack", "openstack"),
    (Field::Product, "CloudStack", "cloudstack"),
];

/// The cloud that the machine is part of; `None` where no table names one.
pub fn cloud(tables: &Tables<'_>) -> Option<&'static str> {
    let text = |field| match field {
        Field::Vendor => tables.vendor,
        Field::Product => tables.product,
        Field::Bios => tables.bios,
        Field::Tag => tables.tag,
    };
    let found = CLOUDS.iter().find(|(field, begin, _)| text(*field).trim_ascii().starts_with(begin));
    // Instances of Amazon below Xen name themselves in the version only: `4.11.amazon`.
    let old = || tables.bios_version.to_ascii_lowercase().contains("amazon").then_some("aws");
    found.map(|(.., word)| *word).or_else(old)
}

/// The kind of case by the number of `chassis_type`: SMBIOS 3.7, table 17, in the words of hostnamectl(1). `None` for "other",
/// "unknown" and numbers that are none.
pub fn chassis(number: u32) -> Option<&'static str> {
    Some(match number {
        3 | 4 | 6 | 7 | 13 | 35 | 36 => "desktop",
        8..=10 | 14 => "laptop",
        11 => "handset",
        17 | 23 | 25 | 28 | 29 => "server",
        30 => "tablet",
        31 | 32 => "convertible",
        33 | 34 => "embedded",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clouds_are_known_by_one_of_their_tables() {
        let of = |tables: Tables<'_>| cloud(&tables);
        let none = Tables::default();
        assert_eq!(of(Tables { vendor: "Amazon EC2", product: "c6in.metal", ..none }), Some("aws"));
        assert_eq!(of(Tables { vendor: "Xen", product: "HVM domU", bios_version: "4.11.amazon", ..none }), Some("aws"));
        let microsoft = Tables { vendor: "Microsoft Corporation", product: "Virtual Machine", ..none };
        assert_eq!(of(microsoft), None);
        assert_eq!(of(Tables { tag: "7783-7084-3265-9085-8269-3286-77", ..microsoft }), Some("azure"));
        assert_eq!(of(Tables { vendor: "Google", product: "Google Compute Engine", ..none }), Some("gcp"));
        assert_eq!(of(Tables { vendor: "OpenStack Foundation", product: "OpenStack Nova", ..none }), Some("openstack"));
        assert_eq!(of(Tables { vendor: "QEMU", product: "Standard PC", bios: "SeaBIOS", ..none }), None);
        assert_eq!(of(none), None);
    }

    #[test]
    fn cases_have_words() {
        assert_eq!(
            (chassis(3), chassis(10), chassis(23), chassis(30)),
            (Some("desktop"), Some("laptop"), Some("server"), Some("tablet"))
        );
        for unknown in [0, 1, 2, 37, u32::MAX] {
            assert_eq!(chassis(unknown), None);
        }
    }
}
